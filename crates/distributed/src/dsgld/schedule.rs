//! The visits of chains to shards, as a function of the seed.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use sgmcmc_gradient::rng::StreamRng;
use xxhash_rust::xxh3::xxh3_64;

/// The visits: in every round each chain visits one rank, and each rank has one chain.
#[derive(Clone, Debug)]
pub(super) struct Visits {
    seed: u64,
    /// The number of steps per visit to each rank.
    pub(super) steps: Vec<u64>,
}

/// Where the chains are in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// The chain on each rank.
    pub(super) chain: Vec<usize>,
}

impl Visits {
    /// Creates visits of `length` steps on average, in proportion to the speeds of the ranks.
    pub(super) fn new(seed: u64, length: u64, speeds: &[f64]) -> Self {
        let total: f64 = speeds.iter().sum();
        let steps = |speed: &f64| ((length as f64 * speeds.len() as f64 * speed / total).round() as u64).max(1);
        Self { seed, steps: speeds.iter().map(steps).collect() }
    }

    /// Returns the share of the steps of a chain that it makes on `rank`.
    pub(super) fn share(&self, rank: usize) -> f64 {
        self.steps[rank] as f64 / self.steps.iter().sum::<u64>() as f64
    }

    /// Returns the places in round `round`: an independent random permutation in each round.
    pub(super) fn round(&self, round: u64) -> Round {
        let mut chain: Vec<usize> = (0..self.steps.len()).collect();
        let words = [self.seed, round, u64::from_le_bytes(*b"a visit.")];
        chain.shuffle(&mut StreamRng::seed_from_u64(xxh3_64(bytemuck::bytes_of(&words))));
        Round { chain }
    }
}

impl Round {
    /// Returns the rank that `chain` visits.
    pub(super) fn rank(&self, chain: usize) -> usize {
        self.chain.iter().position(|other| *other == chain).unwrap_or(0)
    }
}
