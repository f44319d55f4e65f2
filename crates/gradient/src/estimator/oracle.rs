//! The interface between gradient estimators and dynamics.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{GradientEstimator, NoiseCovariance};
use crate::error::Result;
use crate::evaluator::{Conditional, Evaluator};
use crate::layout::{Layout, Split};
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
    source: Source,
    state: OracleState<G::State>,
    /// The factor T − 1 of the log-Jacobian that is added to the log density of the model. It is zero without
    /// constraints.
    jacobian_factor: f64,
}

/// The density that the dynamics move by.
#[derive(Debug)]
enum Source {
    /// The density of all parameters.
    All(Box<dyn Evaluator>),
    /// The density of the free parameters given the held ones.
    Some(Conditional),
}

impl Source {
    /// Returns the evaluator of the parameters that the dynamics move.
    fn evaluator(&mut self) -> &mut dyn Evaluator {
        match self {
            Self::All(model) => model.as_mut(),
            Self::Some(conditional) => conditional,
        }
    }

    /// Returns the evaluator of all parameters.
    fn model(&self) -> &dyn Evaluator {
        match self {
            Self::All(model) => model.as_ref(),
            Self::Some(conditional) => conditional.model.as_ref(),
        }
    }
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
        Ok(Self { estimator, source: Source::All(evaluator), state, jacobian_factor: 0.0 })
    }

    /// Holds the parameters that `split` names at their coordinates in `theta`: all other methods then take and return
    /// the free coordinates, and [`layout`](Self::layout) is that of the free parameters. Without a split all
    /// parameters are free.
    ///
    /// The estimator still works with all coordinates. Estimates therefore stay unbiased when a held parameter changes,
    /// also with control variates, whose center has coordinates of the held parameters of its own.
    #[must_use]
    pub fn holding(self, split: Option<Split>, theta: &[f64]) -> Self {
        let source = match (self.source, split) {
            (Source::All(model), Some(split)) => Source::Some(Conditional::new(model, split, theta)),
            (source, _) => source,
        };
        Self { source, ..self }
    }

    /// Sets the coordinates of the held parameters. Everything that was computed with the previous ones is then out of
    /// date. Does nothing if no parameter is held.
    pub fn set_held(&mut self, held: &[f64]) {
        if let Source::Some(Conditional { split, theta, .. }) = &mut self.source {
            split.set_held(held, theta);
        }
    }

    /// Returns the division into free and held parameters, if some are held.
    pub fn split(&self) -> Option<&Split> {
        match &self.source {
            Source::All(_) => None,
            Source::Some(conditional) => Some(&conditional.split),
        }
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
        self.next_minibatch(theta)?;
        self.gradient_same_batch(theta, out)
    }

    /// Draws a new minibatch for estimates at `theta`, as [`gradient`](Self::gradient) does.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn next_minibatch(&mut self, theta: &[f64]) -> Result<()> {
        let OracleState { estimator, batch, rng, .. } = &mut self.state;
        match &mut self.source {
            Source::All(model) => self.estimator.advance(estimator, theta, model.as_mut())?,
            Source::Some(Conditional { model, split, theta: all, .. }) => {
                split.layout().check_length(theta)?;
                split.set_free(theta, all);
                self.estimator.advance(estimator, all, model.as_mut())?;
            }
        }
        self.estimator.draw(estimator, rng.minibatch(), batch);
        Ok(())
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
        let value = match &mut self.source {
            Source::All(model) => self.estimator.estimate(estimator, theta, model.as_mut(), batch, out)?,
            Source::Some(Conditional { model, split, theta: all, gradient }) => {
                split.layout().check_length(theta)?;
                split.layout().check_length(out)?;
                split.set_free(theta, all);
                let value = self.estimator.estimate(estimator, all, model.as_mut(), batch, gradient)?;
                split.for_each_free(gradient, out, |all, free| *free = *all);
                value
            }
        };
        Ok(value + self.add_log_jacobian(theta, out)?)
    }

    /// Returns an estimate of log p(θ|x) + T log |J| from the current minibatch, or its value if the estimator has no
    /// minibatches.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn log_density(&mut self, theta: &[f64]) -> Result<f64> {
        let evaluator = self.source.evaluator();
        let rows = match self.estimator.scheme() {
            Some(_) => self.state.batch.as_rows()?,
            None => evaluator.all_rows(),
        };
        let value = evaluator.log_density(theta, rows)?;
        if self.jacobian_factor == 0.0 {
            return Ok(value);
        }
        Ok(value + self.layout().log_jacobian(theta, self.jacobian_factor, &mut vec![0.0; theta.len()])?)
    }

    /// Adds the gradient of log p(θ) + T log |J| to `gradient`, where p(θ) is the prior. Returns that log density.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn prior(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        Ok(self.source.evaluator().prior(theta, gradient)? + self.add_log_jacobian(theta, gradient)?)
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

    /// Returns the estimator and the evaluator of the model with all its parameters.
    pub fn parts(&mut self) -> (&G, &mut dyn Evaluator) {
        let Self { estimator, source, .. } = self;
        let model = match source {
            Source::All(model) => model.as_mut(),
            Source::Some(conditional) => conditional.model.as_mut(),
        };
        (&**estimator, model)
    }

    /// Estimates the covariance of the gradient estimator at `theta` from the terms of the current minibatch.
    ///
    /// # Errors
    ///
    /// Returns an error if the minibatch has fewer than 2 observations, or the error of the estimator or the model.
    pub fn batch_noise(&mut self, theta: &[f64], noise: &mut NoiseCovariance) -> Result<()> {
        let OracleState { estimator, batch, .. } = &self.state;
        match &mut self.source {
            Source::All(model) => noise.measure_batch(&*self.estimator, estimator, model.as_mut(), theta, batch),
            Source::Some(Conditional { model, split, theta: all, .. }) => {
                split.layout().check_length(theta)?;
                split.set_free(theta, all);
                noise.measure_batch(&*self.estimator, estimator, model.as_mut(), all, batch)?;
                noise.restrict(split);
                Ok(())
            }
        }
    }

    /// Estimates the covariance of the gradient estimator at `theta` from at least `observations` terms of new
    /// minibatches. They depend only on `seed`; the generators of the chain do not change.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn noise_covariance(&mut self, theta: &[f64], observations: usize, seed: u64) -> Result<NoiseCovariance> {
        let (estimator, state) = (&*self.estimator, &self.state.estimator);
        match &mut self.source {
            Source::All(model) => NoiseCovariance::measure(estimator, state, model.as_mut(), theta, observations, seed),
            Source::Some(Conditional { model, split, theta: all, .. }) => {
                split.layout().check_length(theta)?;
                split.set_free(theta, all);
                let mut noise = NoiseCovariance::measure(estimator, state, model.as_mut(), all, observations, seed)?;
                noise.restrict(split);
                Ok(noise)
            }
        }
    }

    /// Returns the evaluator of the free parameters: of the model if no parameter is held, and of its density given the
    /// held ones otherwise.
    pub fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.source.evaluator()
    }

    /// Returns the layout of the free parameters.
    pub fn layout(&self) -> &Layout {
        match &self.source {
            Source::All(model) => model.layout(),
            Source::Some(conditional) => conditional.split.layout(),
        }
    }

    /// Returns the layout of all parameters.
    pub fn model_layout(&self) -> &Layout {
        self.source.model().layout()
    }

    /// Returns the number N of observations.
    pub fn observations(&self) -> usize {
        self.source.model().observations()
    }

    /// Returns the state to save in a checkpoint.
    pub fn state(&self) -> &OracleState<G::State> {
        &self.state
    }
}
