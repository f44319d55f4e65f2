//! The cost of messages and of gradients, and the speed-up of distributed algorithms that follows.
//!
//! The constants are measured on this machine: 2 ranks as threads and, with the feature `mpi`, over MPI. Those of networks are
//! assumptions, which [`NETWORKS`] states. `docs/scaling.md` has the model.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use sgmcmc::algorithms::InitialScale;
use sgmcmc::distributed::collective::{self, Collective, Incoming, Outgoing, ThreadRank};
use sgmcmc::distributed::factorization::{BlockAlgorithm, BlockedEntries, BlockedFactorization, Grid};
use sgmcmc::gradient::Target;
use sgmcmc::models::factorization::Entries;

use crate::Result;
use crate::bench::analytic;
use crate::bench::workloads::Size;
use crate::ranks::Transport;

/// The numbers of numbers of 8 bytes whose messages are measured.
const LENGTHS: [usize; 7] = [1, 16, 128, 1024, 8192, 65_536, 524_288];
/// The numbers of ranks of predictions.
const RANKS: [usize; 5] = [4, 16, 64, 256, 1024];

/// The time of a message: `latency` + bytes / `bandwidth`.
#[derive(Clone, Copy, Debug)]
struct Network {
    name: &'static str,
    /// Seconds.
    latency: f64,
    /// Bytes per second.
    bandwidth: f64,
}

/// Networks of predictions. The latencies are typical of TCP over switched Ethernet, and of remote direct memory access. 94 % of the
/// bandwidth is for data.
const NETWORKS: [Network; 2] = [
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

/// Seconds of computation on one rank.
#[derive(Clone, Copy, Debug)]
struct Computation {
    /// The gradient of a logistic regression, per observation and covariate.
    covariate: f64,
    /// The gradient of a factorization, per entry and factor.
    entry: f64,
    /// The update of an element of a factor, with its normal number.
    element: f64,
    /// The same for HAMCMC, which has two gradients per iteration.
    element_hamcmc: f64,
}

/// Runs the measurements, and prints predictions.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        return Err(format!("`{argument}`: this command has no arguments").into());
    }
    let transports = if Transport::best() == Transport::Mpi {
        vec![Transport::Threads, Transport::Mpi]
    } else {
        vec![Transport::Threads]
    };
    for transport in transports {
        let text = transport.run(2, "communication", &[])?;
        println!("{transport}, 2 ranks\n{text}");
    }
    let computation = Computation::measure()?;
    let nanoseconds = |seconds: f64| format!("{:.2} ns", 1e9 * seconds);
    let flops = |flops: f64, seconds: f64| format!("{:.2} Gflop/s", 1e-9 * flops / seconds);
    println!("computation, 1 rank");
    let Computation { covariate, entry, element, element_hamcmc } = computation;
    println!(
        "logistic gradient     {:>9} per observation and covariate, {}",
        nanoseconds(covariate),
        flops(4.0, covariate)
    );
    println!("factorization         {:>9} per entry and factor, {}", nanoseconds(entry), flops(6.0, entry));
    println!("update of SGLD        {:>9} per element", nanoseconds(element));
    println!("update of HAMCMC      {:>9} per element\n", nanoseconds(element_hamcmc));
    for network in NETWORKS {
        predict(network, computation);
    }
    Ok(())
}

impl Computation {
    fn measure() -> Result<Self> {
        let (entry, element) = factorization(BlockAlgorithm::Sgld)?;
        let hamcmc = BlockAlgorithm::Hamcmc { memory: 2, lambda: 100.0, gamma: InitialScale::Fixed(1e-3) };
        let (_, element_hamcmc) = factorization(hamcmc)?;
        Ok(Self { covariate: logistic()?, entry, element, element_hamcmc })
    }
}

/// Returns the shortest time of a call, in seconds, over some rounds.
fn fastest(rounds: usize, calls: usize, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let began = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        best = best.min(began.elapsed().as_secs_f64() / calls as f64);
    }
    Ok(best)
}

/// Returns the seconds of a logistic gradient per observation and covariate.
fn logistic() -> Result<f64> {
    let size = Size { observations: 10_000, ..Size::from_name("logistic") };
    let target = analytic::logistic("logistic", size);
    let start = analytic::logistic_start("logistic");
    let mut evaluator = Target::evaluator(&target, &start)?;
    evaluator.set_threads(1);
    let theta = vec![0.01; evaluator.dim()];
    let mut gradient = vec![0.0; evaluator.dim()];
    let rows = evaluator.all_rows();
    let seconds = fastest(10, 3, || {
        gradient.fill(0.0);
        evaluator.likelihood(black_box(&theta), rows, &mut gradient)?;
        Ok(())
    })?;
    Ok(seconds / (evaluator.observations() * evaluator.dim()) as f64)
}

/// Returns the seconds of an iteration per entry and factor, and per element of the factors.
fn factorization(algorithm: BlockAlgorithm) -> Result<(f64, f64)> {
    let (rows, columns, factors) = (6000, 4000, 10);
    let seconds = |count: usize| -> Result<f64> {
        let entries = Entries::simulate_ratings(rows, columns, count, 2, 1)?;
        let grid = Arc::new(Grid::new(rows, columns, 1, 1)?);
        let entries = BlockedEntries::distribute(Arc::new(ThreadRank::alone()), grid, entries.iter())?;
        let mut sampler = BlockedFactorization::new(factors).algorithm(algorithm).step_size(1e-6).sampler(entries)?;
        fastest(8, 5, || Ok(sampler.step()?))
    };
    let (few, many) = (10_000, 410_000);
    let (short, long) = (seconds(few)?, seconds(many)?);
    let gradients = if matches!(algorithm, BlockAlgorithm::Hamcmc { .. }) { 2.0 } else { 1.0 };
    let entry = (long - short) / ((many - few) * factors) as f64;
    let element = (short - entry * (few * factors) as f64) / ((rows + columns) * factors) as f64;
    Ok((entry / gradients, element))
}

/// Measures sums over all ranks, and messages around the ring. Returns a line per length on rank 0.
pub(crate) fn measure(ranks: &Arc<dyn Collective>, _arguments: &[String]) -> collective::Result<String> {
    let mut text = format!("{:>9} {:>22} {:>22}\n", "bytes", "all-reduce, µs", "ring, µs");
    let (mut reduced, mut passed) = (Vec::new(), Vec::new());
    for length in LENGTHS {
        let calls = (2_000_000 / (length + 1000)).clamp(5, 2000);
        let mut values = vec![0.0; length];
        let sum = best_of(&**ranks, calls, || ranks.all_reduce_sum(&mut values))?;
        let (sent, mut received) = (vec![0_u8; 8 * length], vec![0_u8; 8 * length]);
        let (rank, size) = (ranks.rank(), ranks.size());
        let ring = best_of(&**ranks, calls, || {
            let outgoing = [Outgoing { to: (rank + 1) % size, bytes: &sent }];
            let mut incoming = [Incoming { from: (rank + size - 1) % size, bytes: &mut received }];
            ranks.exchange(&outgoing, &mut incoming, &mut || ())
        })?;
        text += &format!("{:>9} {:>22.2} {:>22.2}\n", 8 * length, 1e6 * sum, 1e6 * ring);
        reduced.push(sum);
        passed.push(ring);
    }
    for (name, times) in [("all-reduce", &reduced), ("ring", &passed)] {
        let (Some(first), Some(last)) = (times.first(), times.last()) else { continue };
        let bandwidth = 8.0 * (LENGTHS[LENGTHS.len() - 1] - LENGTHS[0]) as f64 / (last - first);
        text += &format!("{name}: latency {:.2} µs, bandwidth {:.2} GB/s\n", 1e6 * first, 1e-9 * bandwidth);
    }
    Ok(text)
}

/// Returns the seconds of a call, the best of some rounds on this rank.
fn best_of(
    ranks: &dyn Collective,
    calls: usize,
    mut call: impl FnMut() -> collective::Result<()>,
) -> collective::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        ranks.barrier()?;
        let began = Instant::now();
        (0..calls).try_for_each(|_| call())?;
        best = best.min(began.elapsed().as_secs_f64() / calls as f64);
    }
    Ok(best)
}

/// Prints the predicted speed-up of the distributed algorithms on a network.
fn predict(network: Network, computation: Computation) {
    println!("{}, latency {:.0} µs", network.name, 1e6 * network.latency);
    print!("{:<58}", "ranks");
    RANKS.iter().for_each(|ranks| print!(" {ranks:>7}"));
    println!();
    let line = |name: &str, speed_up: &dyn Fn(usize) -> f64| {
        print!("{name:<58}");
        RANKS.iter().for_each(|ranks| print!(" {:>7.1}", speed_up(*ranks)));
        println!();
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
    println!();
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
