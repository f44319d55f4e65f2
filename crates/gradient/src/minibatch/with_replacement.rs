//! Uniform subsampling with replacement.

use serde::{Deserialize, Serialize};

use super::index::below;
use super::{BatchSize, BatchWeights, Minibatch, Scheme};
use crate::error::Result;
use crate::rng::StreamRng;

/// Minibatches of n independent observations, each uniform over all observations.
///
/// The weights are wᵢ = N/n. The variance of Σ wᵢ aᵢ is N²/n · σ²ₐ, where σ²ₐ is the population variance (divisor N).
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::{Minibatch, Scheme, WithReplacement};
/// use sgmcmc::rng::ChainRng;
///
/// let scheme = WithReplacement::new(10);
/// let (mut state, mut rng) = (scheme.init(1000)?, ChainRng::new(1, 0));
/// let mut batch = Minibatch::default();
/// scheme.draw(&mut state, rng.minibatch(), &mut batch);
/// assert!(batch.rows.len() == 10 && batch.rows.iter().all(|row| *row < 1000));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WithReplacement {
    /// The number of observations per minibatch.
    pub size: BatchSize,
}

impl WithReplacement {
    /// Creates a scheme with minibatches of `size` observations. An integer is a count, and a float is a proportion.
    pub fn new(size: impl Into<BatchSize>) -> Self {
        Self { size: size.into() }
    }
}

/// The state of [`WithReplacement`]: the number of observations per minibatch and in the data set.
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
