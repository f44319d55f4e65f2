//! Randomness: a pure function of (seed, chain, stream).

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The generator behind every stream.
pub type StreamRng = Xoshiro256PlusPlus;

/// The two random streams of one chain: one for the dynamics' noise, one for the minibatches.
///
/// Keeping them apart means that two estimators that draw different numbers of rows still see the same noise. Chains are
/// 2¹⁹² draws apart on the generator's cycle and the two streams of a chain 2¹²⁸, so they cannot overlap. The whole state
/// is four words per stream and goes into checkpoints.
///
/// ```
/// use rand::RngExt;
/// use sgmcmc_core::ChainRng;
///
/// let mut first = ChainRng::new(13, 0);
/// let mut again = ChainRng::new(13, 0);
/// let mut other = ChainRng::new(13, 1);
/// let draw: u64 = first.noise().random();
/// assert_eq!(draw, again.noise().random::<u64>());
/// assert_ne!(draw, other.noise().random::<u64>());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainRng {
    noise: StreamRng,
    minibatch: StreamRng,
}

impl ChainRng {
    /// The streams of chain number `chain` under `seed`.
    pub fn new(seed: u64, chain: u64) -> Self {
        let mut noise = StreamRng::seed_from_u64(seed);
        for _ in 0..chain {
            noise.long_jump();
        }
        let mut minibatch = noise.clone();
        minibatch.jump();
        Self { noise, minibatch }
    }

    /// A third stream of the same chain, for what happens before it starts.
    pub fn before_start(seed: u64, chain: u64) -> StreamRng {
        let mut stream = Self::new(seed, chain).minibatch;
        stream.jump();
        stream
    }

    /// The stream the dynamics draw their noise from.
    pub fn noise(&mut self) -> &mut StreamRng {
        &mut self.noise
    }

    /// The stream minibatches are drawn from.
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
    fn a_stream_is_independent_of_how_much_the_other_was_used() {
        let mut used = ChainRng::new(1, 2);
        let mut fresh = ChainRng::new(1, 2);
        for _ in 0..100 {
            used.minibatch().random::<u64>();
        }
        assert_eq!(used.noise().random::<u64>(), fresh.noise().random::<u64>());
    }

    #[test]
    fn survives_serialisation_mid_run() {
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
