//! Random numbers as a function of seed, chain, iteration and block.
//!
//! A block of H is moved by another rank at each iteration, and a rank may hold any number of blocks. Numbers that depend on
//! the block and not on the rank make the draws the same on every number of ranks.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use xxhash_rust::xxh3::xxh3_64;

/// The use of a random number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Use {
    /// The choice of a part.
    Part = 0,
    /// A block of W.
    Row = 1,
    /// A block of H.
    Column = 2,
}

/// The seed and the number of a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) seed: u64,
    pub(super) chain: u64,
}

impl Source {
    /// Returns the generator of iteration `t` of a block.
    fn stream(self, purpose: Use, block: usize, t: u64) -> StreamRng {
        let words = [self.seed, self.chain, purpose as u64, block as u64, t];
        StreamRng::seed_from_u64(xxh3_64(bytemuck::bytes_of(&words)))
    }

    /// Fills `z` with the standard normal numbers of iteration `t` of a block.
    pub(super) fn fill_normals(self, purpose: Use, block: usize, t: u64, z: &mut [f64]) {
        let mut rng = self.stream(purpose, block, t);
        z.iter_mut().for_each(|z| *z = rng.sample(StandardNormal));
    }

    /// Draws the part of iteration `t`, with probabilities proportional to `sizes`.
    pub(super) fn part(self, sizes: &[u64], t: u64) -> usize {
        let total: u64 = sizes.iter().sum();
        let mut left = self.stream(Use::Part, 0, t).random_range(0..total.max(1));
        for (part, size) in sizes.iter().enumerate() {
            match left.checked_sub(*size) {
                None => return part,
                Some(rest) => left = rest,
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part is drawn with a probability in proportion to its number of entries, so that the weight of its gradient is right.
    #[test]
    fn parts_are_drawn_in_proportion_to_their_sizes() {
        let (source, sizes, draws) = (Source { seed: 3, chain: 1 }, [100, 0, 300, 50, 550], 20_000_u64);
        let mut counts = [0.0; 5];
        (1..=draws).for_each(|t| counts[source.part(&sizes, t)] += 1.0);
        assert!(counts[1] < 0.5, "{counts:?}");
        // χ² with 3 degrees of freedom is below 21.1 with probability 0.9999.
        let expected = sizes.map(|size| draws as f64 * size as f64 / 1000.0);
        let terms = counts.iter().zip(expected).filter(|(_, expected)| *expected > 0.0);
        let chi: f64 = terms.map(|(count, expected)| (count - expected).powi(2) / expected).sum();
        assert!(chi < 21.1, "{counts:?}");
    }
}
