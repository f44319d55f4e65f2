//! Random number generators as a pure function of seed, chain and stream.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The random number generator of a stream.
pub type StreamRng = Xoshiro256PlusPlus;

/// The two random streams of one chain, for the noise of the dynamics and for the minibatches.
///
/// With separate streams, estimators that use different numbers of random draws have the same noise of the dynamics. On
/// the cycle of the generator, chains are 2¹⁹² draws apart, and the two streams of a chain are 2¹²⁸ draws apart, so
/// that they do not overlap. The RNG state of a stream has four words and is part of checkpoints.
///
/// # Examples
///
/// ```
/// use sgmcmc::rng::ChainRng;
///
/// // The same seed and chain give the same streams.
/// assert_eq!(ChainRng::new(13, 0), ChainRng::new(13, 0));
/// assert_ne!(ChainRng::new(13, 0), ChainRng::new(13, 1));
/// let mut rng = ChainRng::new(13, 0);
/// assert_ne!(rng.noise().clone(), rng.minibatch().clone());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainRng {
    noise: StreamRng,
    minibatch: StreamRng,
}

impl ChainRng {
    /// Creates the streams of the chain with index `chain`.
    pub fn new(seed: u64, chain: u64) -> Self {
        let mut noise = StreamRng::seed_from_u64(seed);
        for _ in 0..chain {
            noise.long_jump();
        }
        let mut minibatch = noise.clone();
        minibatch.jump();
        Self { noise, minibatch }
    }

    /// Creates a third stream of a chain, for random numbers before its start.
    pub fn before_start(seed: u64, chain: u64) -> StreamRng {
        let mut stream = Self::new(seed, chain).minibatch;
        stream.jump();
        stream
    }

    /// Creates `count` independent streams for draws of one purpose, such as draws from the prior. They differ from the
    /// streams of all chains and of other purposes.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::rng::ChainRng;
    ///
    /// let streams = ChainRng::streams(13, 1, 3);
    /// assert_eq!(streams[..2], ChainRng::streams(13, 1, 2));
    /// assert_ne!(streams[0], ChainRng::streams(13, 2, 1)[0]);
    /// ```
    pub fn streams(seed: u64, purpose: u64, count: usize) -> Vec<StreamRng> {
        // The seed of another purpose is a hash of both, so that the streams of chains are not repeated.
        let mut stream = StreamRng::seed_from_u64(seed ^ purpose.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31));
        let next = || {
            stream.jump();
            stream.clone()
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    /// Returns the stream of the noise of the dynamics.
    pub fn noise(&mut self) -> &mut StreamRng {
        &mut self.noise
    }

    /// Returns the stream of the minibatches.
    pub fn minibatch(&mut self) -> &mut StreamRng {
        &mut self.minibatch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn streams_and_chains_differ() {
        let mut heads: Vec<u64> = (0..8)
            .flat_map(|chain| {
                let mut rng = ChainRng::new(13, chain);
                [rng.noise().random(), rng.minibatch().random()]
            })
            .collect();
        heads.sort_unstable();
        heads.dedup();
        assert_eq!(heads.len(), 16);
    }

    #[test]
    fn draws_from_one_stream_do_not_change_the_other() {
        let mut used = ChainRng::new(1, 2);
        let mut fresh = ChainRng::new(1, 2);
        for _ in 0..100 {
            used.minibatch().random::<u64>();
        }
        assert_eq!(used.noise().random::<u64>(), fresh.noise().random::<u64>());
    }

    #[test]
    fn serialization_preserves_the_state() {
        let mut rng = ChainRng::new(7, 3);
        for _ in 0..5 {
            rng.noise().random::<f64>();
            rng.minibatch().random::<u32>();
        }
        let saved = serde_json::to_string(&rng).unwrap();
        let mut restored: ChainRng = serde_json::from_str(&saved).unwrap();
        assert_eq!(rng.noise().random::<u64>(), restored.noise().random::<u64>());
        assert_eq!(rng.minibatch().random::<u64>(), restored.minibatch().random::<u64>());
    }

    #[test]
    fn values_are_pinned() {
        let mut rng = ChainRng::new(13, 0);
        let noise: u64 = rng.noise().random();
        let minibatch: u64 = rng.minibatch().random();
        assert_eq!((noise, minibatch), (242_638_137_349_980_887, 5_102_246_701_291_392_099));
    }
}
