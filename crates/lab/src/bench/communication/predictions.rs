//! The speed-up of distributed algorithms on networks, as the cost model of `docs/scaling.md` predicts it.

use super::Computation;

/// The numbers of ranks of predictions.
const RANKS: [usize; 5] = [4, 16, 64, 256, 1024];

/// The time of a message: `latency` + bytes / `bandwidth`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network {
    name: &'static str,
    /// Seconds.
    latency: f64,
    /// Bytes per second.
    bandwidth: f64,
}

/// Networks of predictions. The latencies are typical of TCP over switched Ethernet, and of remote direct memory access. 94 % of the
/// bandwidth is for data.
pub(super) const NETWORKS: [Network; 2] = [
    Network { name: "1 Gbit/s", latency: 50e-6, bandwidth: 0.94 * 1e9 / 8.0 },
    Network { name: "100 Gbit/s", latency: 3e-6, bandwidth: 0.94 * 100e9 / 8.0 },
];

impl Network {
    /// Returns the seconds of a message.
    fn message(self, bytes: f64) -> f64 {
        self.latency + bytes / self.bandwidth
    }

    /// Returns the seconds of a sum of `numbers` numbers over `ranks` ranks, a power of two.
    fn all_reduce(self, numbers: usize, ranks: usize) -> f64 {
        let (rounds, bytes) = (ranks.ilog2() as f64, 8.0 * numbers as f64);
        if numbers < 2048.max(2 * ranks) {
            rounds * self.message(bytes)
        } else {
            // Each rank sends half, a quarter, … of the numbers, and receives them back.
            2.0 * (rounds * self.latency + bytes * (1.0 - 1.0 / ranks as f64) / self.bandwidth)
        }
    }
}

/// Returns the predicted speed-up of the distributed algorithms on a network, as a section with a table.
pub(super) fn section(network: Network, computation: Computation) -> String {
    let latency = 1e6 * network.latency;
    let mut text = format!("\n### Predicted speed-up at {}, latency {latency:.0} µs\n\n| ranks |", network.name);
    RANKS.iter().for_each(|ranks| text += &format!(" {ranks} |"));
    text += &format!("\n|---|{}\n", "---|".repeat(RANKS.len()));
    let mut line = |name: &str, speed_up: &dyn Fn(usize) -> f64| {
        text += &format!("| {name} |");
        RANKS.iter().for_each(|ranks| text += &format!(" {:.1} |", speed_up(*ranks)));
        text += "\n";
    };
    for observations in [10_000, 1_000_000, 100_000_000] {
        let name = format!("data-parallel, d = 1000, {observations} observations");
        line(&name, &|ranks| data_parallel(network, computation, observations, ranks));
    }
    for visit in [1, 100] {
        let name = format!("DSGLD, d = 1000, minibatches of 500, visits of {visit}");
        line(&name, &|ranks| dsgld(network, computation, visit, ranks));
    }
    for (name, algorithm) in [("SGLD", Blocked::Sgld), ("PSGLD", Blocked::Psgld), ("HAMCMC", Blocked::Hamcmc)] {
        line(&format!("blocks, {name}, 480189 × 17770, 1e8 entries, K = 50"), &|ranks| {
            blocked(network, computation, algorithm, ranks)
        });
    }
    text
}

/// The number of coordinates of predictions for regressions.
const COORDINATES: usize = 1000;

/// Returns the speed-up of a gradient of `observations` observations.
fn data_parallel(network: Network, computation: Computation, observations: usize, ranks: usize) -> f64 {
    let one = computation.covariate * (observations * COORDINATES) as f64;
    one / (one / ranks as f64 + network.all_reduce(COORDINATES + 3, ranks))
}

/// Returns the number of steps that all chains make in the time in which one makes a step alone.
fn dsgld(network: Network, computation: Computation, visit: usize, ranks: usize) -> f64 {
    let step = computation.covariate * (500 * COORDINATES) as f64;
    // The length of the state, and the state: coordinates, and about 200 bytes of generators.
    let hop = network.message(8.0) + network.message(8.0 * COORDINATES as f64 + 200.0);
    ranks as f64 * step / (step + hop / visit as f64)
}

/// An algorithm of a blocked factorization.
#[derive(Clone, Copy)]
enum Blocked {
    Sgld,
    Psgld,
    Hamcmc,
}

/// Returns the speed-up of an iteration with as many blocks as ranks.
fn blocked(network: Network, computation: Computation, algorithm: Blocked, ranks: usize) -> f64 {
    let (rows, columns, entries, factors) = (480_189.0, 17_770.0, 1e8, 50.0);
    let (gradients, vectors, element) = match algorithm {
        Blocked::Sgld => (1.0, 1.0, computation.element),
        Blocked::Psgld => (1.0, 2.0, computation.element),
        Blocked::Hamcmc => (2.0, 4.0, computation.element_hamcmc),
    };
    let p = ranks as f64;
    // A part has 1/P of the entries, of which each rank has 1/P.
    let gradient = gradients * computation.entry * factors * entries / p;
    let update = element * factors * (rows + columns);
    let block = network.message(8.0 * vectors * factors * columns / p);
    let hidden = element * factors * rows / p;
    let (waiting, sum) = match algorithm {
        // Blocks of H move while those of W are updated.
        Blocked::Sgld | Blocked::Psgld => ((block - hidden).max(0.0), 0.0),
        Blocked::Hamcmc => (block, network.all_reduce(14 * ranks, ranks)),
    };
    (gradient + update) / ((gradient + update) / p + waiting + sum)
}
