//! The interface between gradient estimators and dynamics.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{GradientEstimator, NoiseCovariance};
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::layout::Layout;
use crate::minibatch::Minibatch;
use crate::rng::{ChainRng, StreamRng};

/// The part of an [`Oracle`] that is saved in a checkpoint.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{MinibatchGradient, Oracle};
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::ChainRng;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithoutReplacement::new(10));
/// let mut oracle = Oracle::new(estimator, evaluator, &[0.0], ChainRng::new(1, 0))?;
/// let saved = oracle.state().clone();
/// let (mut first, mut second) = ([0.0], [0.0]);
/// oracle.gradient(&[40.0], &mut first)?;
/// // The saved state leads to the same minibatch.
/// oracle.restore(saved);
/// oracle.gradient(&[40.0], &mut second)?;
/// assert_eq!(first, second);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OracleState<S> {
    /// The state of the estimator.
    pub estimator: S,
    /// The current minibatch.
    pub batch: Minibatch,
    /// The random number generators of the chain.
    pub rng: ChainRng,
    /// The number of estimates so far.
    pub estimates: u64,
}

/// A source of gradient estimates for one chain, on a new minibatch or on the same minibatch at another point.
///
/// An oracle owns the evaluator of the model, the state of the gradient estimator, the current minibatch and the random
/// number generators of the chain. Dynamics request gradients from it and draw their noise from its generator.
///
/// # Temperature
///
/// Dynamics at temperature T divide the log density and its gradient by T, or scale their noise accordingly. The values
/// of constrained parameters have density p(θ|x)^{1/T} only if log p(θ|x) is divided by T and the log-Jacobian log |J|
/// is not. The oracle therefore estimates log p(θ|x) + T log |J|. At T = 1 this is the log density of the coordinates,
/// at T = 0 that of the values. The temperature is not part of [`OracleState`], because it is set before every step.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{MinibatchGradient, Oracle};
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::ChainRng;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithoutReplacement::new(10));
/// let mut oracle = Oracle::new(estimator, evaluator, &[0.0], ChainRng::new(1, 0))?;
/// let (mut first, mut second) = ([0.0], [0.0]);
/// oracle.gradient(&[40.0], &mut first)?;
/// oracle.gradient_same_batch(&[41.0], &mut second)?;
/// // Both estimates use the same observations: their difference has no noise.
/// assert!((first[0] - second[0] - 100.0).abs() < 1e-9);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Oracle<G: GradientEstimator> {
    estimator: Arc<G>,
    evaluator: Box<dyn Evaluator>,
    state: OracleState<G::State>,
    /// The factor T − 1 of the log-Jacobian that is added to the log density of the model. It is zero without
    /// constraints.
    jacobian_factor: f64,
}

impl<G: GradientEstimator> Oracle<G> {
    /// Creates an oracle for a chain that starts at `theta`.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn new(estimator: G, evaluator: Box<dyn Evaluator>, theta: &[f64], rng: ChainRng) -> Result<Self> {
        Self::shared(Arc::new(estimator), evaluator, theta, rng)
    }

    /// Creates an oracle with an estimator that is shared with other chains.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn shared(estimator: Arc<G>, mut evaluator: Box<dyn Evaluator>, theta: &[f64], rng: ChainRng) -> Result<Self> {
        let state = estimator.init(theta, evaluator.as_mut())?;
        let state = OracleState { estimator: state, batch: Minibatch::default(), rng, estimates: 0 };
        Ok(Self { estimator, evaluator, state, jacobian_factor: 0.0 })
    }

    /// Replaces the state by a saved one.
    pub fn restore(&mut self, state: OracleState<G::State>) {
        self.state = state;
    }

    /// Sets the temperature T. It is 1 in a new oracle.
    pub fn set_temperature(&mut self, temperature: f64) {
        self.jacobian_factor = if self.layout().is_constrained() { temperature - 1.0 } else { 0.0 };
    }

    /// Converts a gradient at `theta` from temperature `from` to the current temperature. Returns the difference of the
    /// log densities.
    ///
    /// # Errors
    ///
    /// Returns an error if the length of `theta` or `gradient` is not the number of coordinates.
    pub fn retemper(&self, from: f64, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.layout().log_jacobian(theta, self.jacobian_factor - (from - 1.0), gradient)
    }

    /// Writes an estimate of the gradient of log p(θ|x) + T log |J| on a new minibatch into `out`. Returns an estimate
    /// of that log density. Without constraints |J| = 1.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn gradient(&mut self, theta: &[f64], out: &mut [f64]) -> Result<f64> {
        let OracleState { estimator, batch, rng, .. } = &mut self.state;
        self.estimator.advance(estimator, theta, self.evaluator.as_mut())?;
        self.estimator.draw(estimator, rng.minibatch(), batch);
        self.gradient_same_batch(theta, out)
    }

    /// Writes an estimate of the gradient on the minibatch of the last estimate into `out`. Returns an estimate of the
    /// log density. See [`gradient`](Self::gradient).
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn gradient_same_batch(&mut self, theta: &[f64], out: &mut [f64]) -> Result<f64> {
        let OracleState { estimator, batch, estimates, .. } = &mut self.state;
        *estimates += 1;
        let value = self.estimator.estimate(estimator, theta, self.evaluator.as_mut(), batch, out)?;
        Ok(value + self.add_log_jacobian(theta, out)?)
    }

    /// Adds the gradient of log p(θ) + T log |J| to `gradient`, where p(θ) is the prior. Returns that log density.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn prior(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        Ok(self.evaluator.prior(theta, gradient)? + self.add_log_jacobian(theta, gradient)?)
    }

    /// Adds (T − 1) ∇ log |J| to `gradient`. Returns (T − 1) log |J|.
    fn add_log_jacobian(&self, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        if self.jacobian_factor == 0.0 {
            return Ok(0.0);
        }
        self.layout().log_jacobian(theta, self.jacobian_factor, gradient)
    }

    /// Returns the random number generator for the noise of the dynamics.
    pub fn noise(&mut self) -> &mut StreamRng {
        self.state.rng.noise()
    }

    /// Returns the estimator and the evaluator of the model.
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

    /// Estimates the covariance of the gradient estimator at `theta` from at least `observations` terms of new
    /// minibatches. They depend only on `seed`; the generators of the chain do not change.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn noise_covariance(&mut self, theta: &[f64], observations: usize, seed: u64) -> Result<NoiseCovariance> {
        let (estimator, state) = (&*self.estimator, &self.state.estimator);
        NoiseCovariance::measure(estimator, state, self.evaluator.as_mut(), theta, observations, seed)
    }

    /// Returns the evaluator of the model.
    pub fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.evaluator.as_mut()
    }

    /// Returns the layout of the parameters.
    pub fn layout(&self) -> &Layout {
        self.evaluator.layout()
    }

    /// Returns the state to save in a checkpoint.
    pub fn state(&self) -> &OracleState<G::State> {
        &self.state
    }
}
