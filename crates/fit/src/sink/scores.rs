//! A sink that evaluates the gradient of the log posterior at every draw, for diagnostics and variance reduction.
//!
//! The gradient is that of the density of the unconstrained coordinates. It is evaluated again at the draw, because the
//! gradient of the iteration was evaluated at the previous position of the chain.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{ChainRng, Evaluator, GradientEstimator, Minibatch, Result};

use super::{Draw, Schema, Sink};
use crate::codec::{decode, encode};

/// The gradient of the log posterior at each draw of a chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainScores {
    width: usize,
    values: Vec<f64>,
}

impl ChainScores {
    /// Returns the number of coordinates of a gradient.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns all gradients in row-major order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the number of gradients.
    pub fn len(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Returns whether there are no gradients.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns an iterator over the gradients.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width.max(1))
    }
}

/// A sink that keeps an estimate of the gradient at every draw. Use it in a tuple with [`Memory`](super::Memory) to
/// keep draws and gradients.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc::gradient::{FullGradient, Target};
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::{Memory, Scores};
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let (data, start) = (Dataset::none(), zeros([2]));
/// let evaluator = || model.with(&data).evaluator(&start).expect("the density is defined");
/// let sink = |chain: usize| (Memory::default(), Scores::new(Arc::new(FullGradient), evaluator(), chain as u64));
/// let chains = hmc(&model, &data, 0.025).sample_into(&start, 50, sink)?;
/// let ((draws, scores), _outcome) = &chains[0];
/// assert_eq!(draws.len(), scores.len());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Scores<G: GradientEstimator> {
    estimator: Arc<G>,
    evaluator: Box<dyn Evaluator>,
    rng: ChainRng,
    batch: Minibatch,
    state: Option<G::State>,
    scores: ChainScores,
    gradient: Vec<f64>,
    /// The number of entries of `scores` that are in a checkpoint.
    appended: usize,
}

impl<G: GradientEstimator> std::fmt::Debug for Scores<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scores").field("gradients", &self.scores.len()).finish_non_exhaustive()
    }
}

impl<G: GradientEstimator> Scores<G> {
    /// Creates a sink that estimates gradients with `estimator` and `evaluator`. `seed` determines the minibatches.
    ///
    /// The estimator is initialized at the first draw. Set the center of control variates explicitly.
    pub fn new(estimator: Arc<G>, evaluator: Box<dyn Evaluator>, seed: u64) -> Self {
        let scores = ChainScores { width: evaluator.dim(), values: Vec::new() };
        let (rng, gradient) = (ChainRng::new(seed, 0), vec![0.0; evaluator.dim()]);
        Self { estimator, evaluator, rng, batch: Minibatch::default(), state: None, scores, gradient, appended: 0 }
    }

    /// Evaluates the gradient at the draw with these values and appends it.
    ///
    /// # Errors
    ///
    /// Returns an error if the values violate their constraints. Returns the errors of the estimator and of the model.
    pub fn take(&mut self, values: &[f64]) -> Result<()> {
        let theta = self.evaluator.layout().coordinates(values)?;
        let evaluator = self.evaluator.as_mut();
        let state = match &mut self.state {
            Some(state) => state,
            none => none.insert(self.estimator.init(&theta, evaluator)?),
        };
        self.estimator.advance(state, &theta, evaluator)?;
        self.estimator.draw(state, self.rng.minibatch(), &mut self.batch);
        self.estimator.estimate(state, &theta, evaluator, &self.batch, &mut self.gradient)?;
        self.scores.values.extend_from_slice(&self.gradient);
        Ok(())
    }
}

impl<G: GradientEstimator> Sink for Scores<G> {
    type Output = ChainScores;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.scores.values.reserve(schema.draws.saturating_mul(self.scores.width));
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.take(draw.values)
    }

    fn append(&mut self) -> Result<Vec<u8>> {
        let new = &self.scores.values[self.appended..];
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let part = encode(&new)?;
        self.appended = self.scores.values.len();
        Ok(part)
    }

    fn replay(&mut self, part: &[u8]) -> Result<()> {
        self.scores.values.extend(decode::<Vec<f64>>(part)?);
        self.appended = self.scores.values.len();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(self.scores.values.len(), &self.state, &self.rng))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (count, state, rng) = decode(saved)?;
        super::check_count(count, self.scores.values.len())?;
        (self.state, self.rng) = (state, rng);
        Ok(())
    }

    fn finish(self) -> ChainScores {
        self.scores
    }
}
