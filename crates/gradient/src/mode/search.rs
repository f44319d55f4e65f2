//! Searches for the mode on estimated gradients.

use super::{Adam, Mode, ModeFinder, Optimizer, SearchOutcome, Sgd, minibatch_size};
use crate::error::{Error, Result};
use crate::estimator::{FullGradient, GradientEstimator, Oracle, Svrg};
use crate::evaluator::Evaluator;
use crate::minibatch::Scheme;
use crate::rng::ChainRng;
use crate::settings;

/// Stochastic gradient ascent with any optimizer on any gradient estimator.
///
/// The search evaluates the log posterior on all observations at intervals and keeps the best point. If an interval
/// brings no progress, it reduces the step size and restarts from the best point. It stops after several intervals
/// without progress.
///
/// With plain minibatch gradients the last posterior standard deviation takes many steps, because the gradient is
/// smaller than its noise there. With [`Svrg`] and a period of about N/n the search reaches any accuracy.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `optimizer` | [`Adam`] | the update rule | |
/// | `max_iterations` | 10 000 | the maximum number of steps (`nItersOpt` in R) | ≥ 1 |
/// | `stop` | [`StopRule::Plateau`] | the rule for an early stop | |
/// | `seed` | 0 | the seed of the minibatches | |
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::mode::ModeSearch;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 6.0], [3])?)?;
/// let evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let mode = ModeSearch::default().run(FullGradient, evaluator, &[0.0])?;
/// assert!((mode.theta[0] - 3.0).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeSearch<O = Adam> {
    /// The update rule.
    pub optimizer: O,
    /// The maximum number of steps.
    pub max_iterations: u64,
    /// The rule for an early stop.
    pub stop: StopRule,
    /// The seed of the minibatches.
    pub seed: u64,
}

/// The rule for a stop before the maximum number of iterations.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::{ModeSearch, StopRule};
///
/// let search = ModeSearch { stop: StopRule::Never, max_iterations: 500, ..ModeSearch::default() };
/// assert_eq!(search.stop, StopRule::Never);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopRule {
    /// Takes all iterations, without evaluations on all observations in between, as in R.
    Never,
    /// Stops after `patience` consecutive intervals that gained less than `tolerance` per coordinate. Each of these
    /// intervals has a third of the step size of the one before.
    Plateau {
        /// The number of steps between two evaluations on all observations.
        every: u64,
        /// The gain in log posterior per coordinate that counts as progress.
        tolerance: f64,
        /// The number of consecutive intervals without progress after which the search stops.
        patience: u32,
    },
}

/// The factor of the step size after an interval without progress.
const RATE_DECAY: f64 = 1.0 / 3.0;

impl Default for ModeSearch<Adam> {
    fn default() -> Self {
        let stop = StopRule::Plateau { every: 200, tolerance: 0.005, patience: 5 };
        Self { optimizer: Adam::default(), max_iterations: 10_000, stop, seed: 0 }
    }
}

impl ModeSearch<Sgd> {
    /// Creates the search of the R package: exactly `iterations` steps θ += step_size · ĝ(θ).
    pub fn as_in_r(step_size: f64, iterations: u64) -> Self {
        Self { optimizer: Sgd { step_size }, max_iterations: iterations, stop: StopRule::Never, seed: 0 }
    }
}

impl<O: Optimizer> ModeSearch<O> {
    /// Searches from the coordinates `start` with the gradients of `estimator`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or if the search diverges because the step size is too large, or
    /// the error of the estimator or the model.
    pub fn run<G: GradientEstimator>(
        &self,
        estimator: G,
        evaluator: Box<dyn Evaluator>,
        start: &[f64],
    ) -> Result<Mode> {
        self.check()?;
        self.run_on_oracle(&mut Oracle::new(estimator, evaluator, start, ChainRng::new(self.seed, 0))?, start)
    }

    /// Searches from `start` with the gradients of `oracle`.
    pub(super) fn run_on_oracle<G: GradientEstimator>(&self, oracle: &mut Oracle<G>, start: &[f64]) -> Result<Mode> {
        self.check()?;
        let mut ascent = Ascent::new(self, oracle, start)?;
        let (every, tolerance, patience) = match self.stop {
            StopRule::Never => (self.max_iterations, f64::NEG_INFINITY, u32::MAX),
            StopRule::Plateau { every, tolerance, patience } => (every, tolerance * start.len() as f64, patience),
        };
        let mut without_progress = 0;
        while ascent.iterations < self.max_iterations && without_progress < patience {
            ascent.run_steps(oracle, every.min(self.max_iterations - ascent.iterations))?;
            without_progress = if ascent.evaluate_progress(oracle, tolerance)? { 0 } else { without_progress + 1 };
        }
        let converged = without_progress >= patience;
        Ok(ascent.finish(if converged { SearchOutcome::Converged } else { SearchOutcome::IterationLimit }))
    }

    fn check(&self) -> Result<()> {
        settings::at_least("max_iterations", self.max_iterations, 1, "take at least 1 step")?;
        if let StopRule::Plateau { every, .. } = self.stop {
            settings::at_least("every", every, 1, "take at least 1 step between two evaluations on all observations")?;
        }
        Ok(())
    }
}

impl<O: Optimizer> ModeFinder for ModeSearch<O> {
    fn find<S: Scheme>(&self, evaluator: Box<dyn Evaluator>, minibatches: Option<S>, start: &[f64]) -> Result<Mode> {
        match minibatches {
            Some(scheme) => self.run(variance_reduced(scheme, evaluator.observations())?, evaluator, start),
            None => self.run(FullGradient, evaluator, start),
        }
    }
}

/// Returns SVRG with one pass over all observations for every N observations drawn.
pub(super) fn variance_reduced<S: Scheme>(scheme: S, observations: usize) -> Result<Svrg<S>> {
    let period = observations / minibatch_size(&scheme, observations)?;
    Ok(Svrg::new(scheme, period.max(1) as u64))
}

/// The state of a running search.
struct Ascent<'a, O: Optimizer> {
    optimizer: &'a O,
    state: O::State,
    /// The factor of the step size.
    rate: f64,
    theta: Vec<f64>,
    gradient: Vec<f64>,
    best: Point,
    start_log_posterior: f64,
    iterations: u64,
    full_passes: u64,
}

/// A point with the log posterior over all observations.
struct Point {
    theta: Vec<f64>,
    log_posterior: f64,
    gradient_norm: f64,
}

impl Point {
    fn new(theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self> {
        let mut gradient = vec![0.0; theta.len()];
        let log_posterior = evaluator.posterior(theta, evaluator.all_rows(), &mut gradient)?;
        let gradient_norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        Ok(Self { theta: theta.to_vec(), log_posterior, gradient_norm })
    }
}

impl<'a, O: Optimizer> Ascent<'a, O> {
    fn new<G: GradientEstimator>(search: &'a ModeSearch<O>, oracle: &mut Oracle<G>, start: &[f64]) -> Result<Self> {
        let best = Point::new(start, oracle.evaluator())?;
        Ok(Self {
            optimizer: &search.optimizer,
            state: search.optimizer.init(start.len()),
            rate: 1.0,
            theta: start.to_vec(),
            gradient: vec![0.0; start.len()],
            start_log_posterior: best.log_posterior,
            best,
            iterations: 0,
            full_passes: 1,
        })
    }

    /// Takes `steps` steps.
    fn run_steps<G: GradientEstimator>(&mut self, oracle: &mut Oracle<G>, steps: u64) -> Result<()> {
        for _ in 0..steps {
            self.iterations += 1;
            oracle.gradient(&self.theta, &mut self.gradient)?;
            self.optimizer.step(&mut self.state, self.rate, &mut self.theta, &self.gradient);
            if let Some(index) = self.theta.iter().position(|value| !value.is_finite()) {
                return Err(Error::Diverged {
                    what: "the mode search: the value",
                    element: oracle.layout().coordinate_name(index),
                    value: self.theta[index],
                    iteration: self.iterations,
                    remedy: "use a smaller step size for the optimizer",
                });
            }
        }
        Ok(())
    }

    /// Evaluates the log posterior on all observations. Returns `true` if the last steps gained more than `tolerance`.
    /// Otherwise returns to the best point and reduces the step size.
    fn evaluate_progress<G: GradientEstimator>(&mut self, oracle: &mut Oracle<G>, tolerance: f64) -> Result<bool> {
        let current = Point::new(&self.theta, oracle.evaluator())?;
        self.full_passes += 1;
        let gain = current.log_posterior - self.best.log_posterior;
        if gain > 0.0 || tolerance == f64::NEG_INFINITY {
            self.best = current;
        }
        let progress = gain > tolerance;
        if !progress {
            self.rate *= RATE_DECAY;
            self.theta.copy_from_slice(&self.best.theta);
            self.state = self.optimizer.init(self.theta.len());
        }
        Ok(progress)
    }

    fn finish(self, outcome: SearchOutcome) -> Mode {
        Mode {
            theta: self.best.theta,
            log_posterior: self.best.log_posterior,
            gradient_norm: self.best.gradient_norm,
            start_log_posterior: self.start_log_posterior,
            iterations: self.iterations,
            full_passes: self.full_passes,
            outcome,
            predicted_gain: None,
        }
    }
}
