//! Minibatches in shuffled epochs.
//!
//! The serialized state is the seed of the epoch and the position in it. The order of the observations is recomputed
//! when a run is resumed.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::{BatchSize, BatchWeights, Minibatch, Scheme};
use crate::error::Result;
use crate::rng::StreamRng;

/// Minibatches of n observations in shuffled epochs. Each epoch contains every observation once, in random order.
///
/// The weights are wᵢ = N/n. If n does not divide N, the last minibatch of an epoch is shorter, and its weights are N
/// over its length. Each minibatch is unbiased, but successive minibatches are negatively correlated.
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::{Epochs, Minibatch, Scheme};
/// use sgmcmc::rng::ChainRng;
///
/// let scheme = Epochs::new(4);
/// let (mut state, mut rng) = (scheme.init(8)?, ChainRng::new(1, 0));
/// let (mut first, mut second) = (Minibatch::default(), Minibatch::default());
/// scheme.draw(&mut state, rng.minibatch(), &mut first);
/// scheme.draw(&mut state, rng.minibatch(), &mut second);
/// assert!(first.rows.iter().all(|row| !second.rows.contains(row)));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Epochs {
    /// The number of observations per minibatch.
    pub size: BatchSize,
}

impl Epochs {
    /// Creates a scheme with minibatches of `size` observations. An integer is a count, and a float is a proportion.
    pub fn new(size: impl Into<BatchSize>) -> Self {
        Self { size: size.into() }
    }
}

/// The state of [`Epochs`]: the seed of the current epoch, and the position of the next minibatch in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    size: usize,
    observations: usize,
    seed: u64,
    next: usize,
    #[serde(skip)]
    order: Vec<usize>,
}

impl Scheme for Epochs {
    type State = State;

    fn init(&self, observations: usize) -> Result<State> {
        let size = self.size.resolve(observations)?;
        Ok(State { size, observations, seed: 0, next: observations, order: Vec::new() })
    }

    fn draw(&self, state: &mut State, rng: &mut StreamRng, batch: &mut Minibatch) {
        if state.next == state.observations {
            state.seed = rng.random();
            state.next = 0;
            state.order.clear();
        }
        if state.order.is_empty() {
            state.order.extend(0..state.observations);
            state.order.shuffle(&mut StreamRng::seed_from_u64(state.seed));
        }
        let end = (state.next + state.size).min(state.observations);
        batch.rows.clear();
        batch.rows.extend_from_slice(&state.order[state.next..end]);
        batch.weights = BatchWeights::Same(state.observations as f64 / batch.rows.len() as f64);
        state.next = end;
    }

    fn has_independent_batches(&self) -> bool {
        false
    }

    fn has_distinct_observations(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChainRng;

    #[test]
    fn an_epoch_contains_each_observation_once() {
        let scheme = Epochs::new(4);
        let mut state = scheme.init(10).unwrap();
        let mut rng = ChainRng::new(5, 0);
        let mut batch = Minibatch::default();
        let mut orders = Vec::new();
        for _ in 0..3 {
            let mut epoch = Vec::new();
            for length in [4, 4, 2] {
                scheme.draw(&mut state, rng.minibatch(), &mut batch);
                assert_eq!(batch.rows.len(), length);
                assert_eq!(batch.weights, BatchWeights::Same(10.0 / length as f64));
                epoch.extend(batch.rows.iter().copied());
            }
            orders.push(epoch.clone());
            epoch.sort_unstable();
            assert_eq!(epoch, (0..10).collect::<Vec<_>>());
        }
        assert_ne!(orders[0], orders[1]);
    }

    #[test]
    fn resumes_in_the_middle_of_an_epoch() {
        let scheme = Epochs::new(3);
        let mut state = scheme.init(10).unwrap();
        let mut rng = ChainRng::new(5, 0);
        let mut batch = Minibatch::default();
        scheme.draw(&mut state, rng.minibatch(), &mut batch);
        let saved = serde_json::to_string(&state).unwrap();
        let mut restored: State = serde_json::from_str(&saved).unwrap();
        let mut other = Minibatch::default();
        scheme.draw(&mut state, &mut rng.minibatch().clone(), &mut batch);
        scheme.draw(&mut restored, rng.minibatch(), &mut other);
        assert_eq!(batch, other);
    }
}
