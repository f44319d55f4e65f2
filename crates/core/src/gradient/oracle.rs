//! What dynamics ask for gradients.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{GradientEstimator, NoiseCovariance};
use crate::engine::Evaluator;
use crate::error::Result;
use crate::layout::Layout;
use crate::minibatch::Minibatch;
use crate::rng::{ChainRng, StreamRng};

/// Everything about an oracle that a checkpoint must hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OracleState<S> {
    /// The estimator's state.
    pub estimator: S,
    /// The current minibatch.
    pub batch: Minibatch,
    /// The chain's generator.
    pub rng: ChainRng,
    /// How many estimates were made.
    pub estimates: u64,
}

/// Gives dynamics gradients when and where they ask: on a new minibatch, or on the same one at another point.
#[derive(Debug)]
pub struct Oracle<G: GradientEstimator> {
    estimator: Arc<G>,
    evaluator: Box<dyn Evaluator>,
    state: OracleState<G::State>,
}

impl<G: GradientEstimator> Oracle<G> {
    /// An oracle for a chain about to start at `theta`.
    pub fn new(estimator: G, evaluator: Box<dyn Evaluator>, theta: &[f64], rng: ChainRng) -> Result<Self> {
        Self::shared(Arc::new(estimator), evaluator, theta, rng)
    }

    /// As [`new`](Self::new), with an estimator that other chains use too.
    pub fn shared(estimator: Arc<G>, mut evaluator: Box<dyn Evaluator>, theta: &[f64], rng: ChainRng) -> Result<Self> {
        let state = estimator.init(theta, evaluator.as_mut())?;
        let state = OracleState { estimator: state, batch: Minibatch::default(), rng, estimates: 0 };
        Ok(Self { estimator, evaluator, state })
    }

    /// Goes on from a saved state.
    pub fn restore(&mut self, state: OracleState<G::State>) {
        self.state = state;
    }

    /// Writes an estimate of ∇ log p(θ|x) on a new minibatch into `out`; returns an estimate of log p(θ|x).
    pub fn fresh(&mut self, theta: &[f64], out: &mut [f64]) -> Result<f64> {
        let OracleState { estimator, batch, rng, .. } = &mut self.state;
        self.estimator.advance(estimator, theta, self.evaluator.as_mut())?;
        self.estimator.draw(estimator, rng.minibatch(), batch);
        self.again(theta, out)
    }

    /// As [`fresh`](Self::fresh), on the same minibatch as the last estimate.
    pub fn again(&mut self, theta: &[f64], out: &mut [f64]) -> Result<f64> {
        let OracleState { estimator, batch, estimates, .. } = &mut self.state;
        *estimates += 1;
        self.estimator.estimate(estimator, theta, self.evaluator.as_mut(), batch, out)
    }

    /// The stream the dynamics draw their noise from.
    pub fn noise(&mut self) -> &mut StreamRng {
        self.state.rng.noise()
    }

    /// The estimator and what evaluates the model, to measure the one on the other.
    pub fn parts(&mut self) -> (&G, &mut dyn Evaluator) {
        (&self.estimator, self.evaluator.as_mut())
    }

    /// Estimates the covariance of the gradient estimator at `theta` from the terms of the current minibatch.
    ///
    /// # Errors
    ///
    /// Returns an error if the minibatch has fewer than 2 observations, or the error of the estimator or the model.
    pub fn batch_noise(&mut self, theta: &[f64], noise: &mut NoiseCovariance) -> Result<()> {
        let OracleState { estimator, batch, .. } = &self.state;
        noise.measure_batch(&*self.estimator, estimator, self.evaluator.as_mut(), theta, batch)
    }

    /// Estimates the covariance of the gradient estimator at `theta` from at least `observations` terms of other minibatches, which
    /// are a function of `seed`. The chain's own randomness does not change.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn noise_covariance(&mut self, theta: &[f64], observations: usize, seed: u64) -> Result<NoiseCovariance> {
        let (estimator, state) = (&*self.estimator, &self.state.estimator);
        NoiseCovariance::measure(estimator, state, self.evaluator.as_mut(), theta, observations, seed)
    }

    /// What evaluates the model.
    pub fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.evaluator.as_mut()
    }

    /// Names, shapes and places of the parameters.
    pub fn layout(&self) -> &Layout {
        self.evaluator.layout()
    }

    /// What a checkpoint must hold.
    pub fn state(&self) -> &OracleState<G::State> {
        &self.state
    }
}
