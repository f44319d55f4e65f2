//! Gradient estimates for dynamics.

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

/// Provides gradient estimates to dynamics: on a new minibatch, or on the same one at another point.
///
/// Dynamics at temperature T divide the log density and its gradient by T, or scale their noise accordingly. For the values of
/// constrained parameters to have density p(θ|x)^{1/T}, log p(θ|x) must be divided and the log-Jacobian log |J| must not. The oracle
/// therefore estimates log p(θ|x) + T log |J|. At T = 1 this is the log density of the coordinates, at T = 0 that of the values. The
/// temperature is not part of [`OracleState`]: it is set before every step.
#[derive(Debug)]
pub struct Oracle<G: GradientEstimator> {
    estimator: Arc<G>,
    evaluator: Box<dyn Evaluator>,
    state: OracleState<G::State>,
    /// The factor T − 1 of the log-Jacobian that is added to what the model gives; zero without constraints.
    jacobian_factor: f64,
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
        Ok(Self { estimator, evaluator, state, jacobian_factor: 0.0 })
    }

    /// Goes on from a saved state.
    pub fn restore(&mut self, state: OracleState<G::State>) {
        self.state = state;
    }

    /// Sets the temperature T; it is 1 in a new oracle.
    pub fn set_temperature(&mut self, temperature: f64) {
        self.jacobian_factor = if self.layout().is_constrained() { temperature - 1.0 } else { 0.0 };
    }

    /// Turns a gradient at `theta` that was estimated at temperature `from` into one at the current temperature; returns the
    /// difference of the log densities.
    ///
    /// # Errors
    ///
    /// Returns an error if `theta` or `gradient` is not as long as there are coordinates.
    pub fn retemper(&self, from: f64, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.layout().log_jacobian(theta, self.jacobian_factor - (from - 1.0), gradient)
    }

    /// Writes an estimate of the gradient of log p(θ|x) + T log |J| on a new minibatch into `out`; returns an estimate of that log
    /// density. Without constraints |J| = 1.
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
        let value = self.estimator.estimate(estimator, theta, self.evaluator.as_mut(), batch, out)?;
        Ok(value + self.add_log_jacobian(theta, out)?)
    }

    /// Adds the gradient of log p(θ) + T log |J| to `gradient`, p(θ) the prior; returns that log density.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn prior(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        Ok(self.evaluator.prior(theta, gradient)? + self.add_log_jacobian(theta, gradient)?)
    }

    /// Adds (T − 1) ∇ log |J| to `gradient`; returns (T − 1) log |J|.
    fn add_log_jacobian(&self, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        if self.jacobian_factor == 0.0 {
            return Ok(0.0);
        }
        self.layout().log_jacobian(theta, self.jacobian_factor, gradient)
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
