//! Evaluates the gradient of the log posterior at every draw, for diagnostics and variance reduction afterwards.
//!
//! The gradient is of the density of the coordinates, which is what chains move and what is smooth everywhere; it is estimated anew at the
//! draw itself, because the gradient that made the draw was taken where the chain stood before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_core::{ChainRng, Evaluator, GradientEstimator, Minibatch, Result};

use super::{Draw, Schema, Sink};
use crate::run::{decode, encode};

/// The gradient of the log posterior at each draw of a chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainScores {
    width: usize,
    values: Vec<f64>,
}

impl ChainScores {
    /// How many coordinates a gradient has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All gradients, one after another.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many gradients there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Whether there is no gradient.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One gradient after another.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width.max(1))
    }
}

/// Keeps an estimate of the gradient at every draw; with [`Memory`](super::Memory) in a tuple, draws and gradients.
pub struct Scores<G: GradientEstimator> {
    estimator: Arc<G>,
    evaluator: Box<dyn Evaluator>,
    rng: ChainRng,
    batch: Minibatch,
    state: Option<G::State>,
    scores: ChainScores,
    gradient: Vec<f64>,
    /// How many numbers of the gradients are in a checkpoint.
    appended: usize,
}

impl<G: GradientEstimator> std::fmt::Debug for Scores<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scores").field("gradients", &self.scores.len()).finish_non_exhaustive()
    }
}

impl<G: GradientEstimator> Scores<G> {
    /// Gradients by `estimator` on `evaluator`, on minibatches that are a function of `seed`. The estimator starts at the first draw: give
    /// control variates their centre.
    pub fn new(estimator: Arc<G>, evaluator: Box<dyn Evaluator>, seed: u64) -> Self {
        let scores = ChainScores { width: evaluator.dim(), values: Vec::new() };
        let (rng, gradient) = (ChainRng::new(seed, 0), vec![0.0; evaluator.dim()]);
        Self { estimator, evaluator, rng, batch: Minibatch::default(), state: None, scores, gradient, appended: 0 }
    }

    /// Takes the gradient at the draw with these values.
    ///
    /// # Errors
    ///
    /// If the values are outside their constraints, or as estimator and model do.
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
