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

    /// Returns the number of rounds after which every chain has made `iterations` iterations.
    pub(super) fn rounds(&self, iterations: u64) -> u64 {
        let mut done = vec![0; self.steps.len()];
        let mut round = 0;
        while done.iter().any(|done| *done < iterations) {
            self.round(round).chain.iter().zip(&self.steps).for_each(|(chain, steps)| done[*chain] += steps);
            round += 1;
        }
        round
    }
}

impl Round {
    /// Returns the rank that `chain` visits.
    pub(super) fn rank(&self, chain: usize) -> usize {
        self.chain.iter().position(|other| *other == chain).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each chain visits each rank equally often, and the next rank does not depend on the present one.
    #[test]
    fn chains_visit_all_ranks_equally_often() {
        let (ranks, rounds) = (4, 8000_u64);
        let visits = Visits::new(5, 100, &vec![1.0; ranks]);
        let mut moves = vec![0.0; ranks * ranks];
        for round in 0..rounds {
            let (now, next) = (visits.round(round), visits.round(round + 1));
            let mut chains = now.chain.clone();
            chains.sort_unstable();
            assert_eq!(chains, [0, 1, 2, 3]);
            moves[now.rank(2) * ranks + next.rank(2)] += 1.0;
        }
        // The 16 moves have the same probability: χ² with 15 degrees of freedom is below 44.3 with probability 0.9999.
        let expected = rounds as f64 / 16.0;
        let chi: f64 = moves.iter().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(chi < 44.3, "{moves:?}");
    }

    #[test]
    fn visits_are_as_long_as_ranks_are_fast() {
        let visits = Visits::new(0, 100, &[1.0, 3.0]);
        assert_eq!(visits.steps, [50, 150]);
        assert_eq!([visits.share(0), visits.share(1)].map(f64::to_bits), [0.25_f64, 0.75].map(f64::to_bits));
        assert_eq!(Visits::new(0, 1, &[1.0, 1000.0]).steps, [1, 2]);
        // After 4 rounds each chain has made at least 4 × 50 iterations.
        assert!((2..=4).contains(&visits.rounds(200)), "{}", visits.rounds(200));
    }
}
