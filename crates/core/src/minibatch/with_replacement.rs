//! n independent observations, each uniform over all of them.
//!
//! wᵢ = N/n. The variance of Σ wᵢ aᵢ is N²/n · σ²ₐ, with σ²ₐ the population variance (divisor N).

use serde::{Deserialize, Serialize};

use super::index::below;
use super::{BatchSize, BatchWeights, Minibatch, Scheme};
use crate::error::Result;
use crate::rng::StreamRng;

/// n observations per minibatch, drawn independently.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WithReplacement {
    /// Observations per minibatch.
    pub size: BatchSize,
}

impl WithReplacement {
    /// Minibatches of `size` observations: an integer is a count, a float a proportion.
    pub fn new(size: impl Into<BatchSize>) -> Self {
        Self { size: size.into() }
    }
}

/// The resolved sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    size: usize,
    observations: usize,
}

impl Scheme for WithReplacement {
    type State = State;

    fn init(&self, observations: usize) -> Result<State> {
        Ok(State { size: self.size.resolve(observations)?, observations })
    }

    fn draw(&self, state: &mut State, rng: &mut StreamRng, batch: &mut Minibatch) {
        let State { size, observations } = *state;
        batch.weights = BatchWeights::Same(observations as f64 / size as f64);
        batch.rows.resize(size, 0);
        below(observations, rng, &mut batch.rows);
    }
}
