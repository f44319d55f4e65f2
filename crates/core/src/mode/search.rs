//! A search on estimated gradients: any optimiser on any gradient estimator, with looks at the full data at intervals.
//!
//! The search keeps the best point seen, lowers the rate when a stretch brought nothing, and stops when several stretches in a row
//! brought less than `tolerance`.
//!
//! On plain minibatch gradients the last posterior standard deviation is slow, because there the gradient is smaller than its noise; with
//! [`Svrg`] and a period of about N/n the search gets as close as required.

use super::{Adam, Ending, Mode, ModeFinder, Optimiser, Sgd, minibatch_size};
use crate::engine::Evaluator;
use crate::error::{Error, Result};
use crate::gradient::{FullGradient, GradientEstimator, Oracle, Svrg};
use crate::minibatch::Scheme;
use crate::rng::ChainRng;

/// A search by stochastic gradient ascent.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `optimiser` | [`Adam`] | what turns gradients into steps | |
/// | `max_iterations` | 10 000 | most steps taken (R's `nItersOpt`) | ≥ 1 |
/// | `stop` | [`Stop::Plateau`] | when to stop before that | |
/// | `seed` | 0 | of the minibatches | |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeSearch<O = Adam> {
    /// What turns gradients into steps.
    pub optimiser: O,
    /// Most steps taken.
    pub max_iterations: u64,
    /// When to stop before that.
    pub stop: Stop,
    /// The seed of the minibatches.
    pub seed: u64,
}

/// When a search stops before its last iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// Never, and no look at the full data on the way: as in R.
    Never,
    /// When `patience` stretches in a row gained less than `tolerance` per parameter, each at a third of the rate before.
    Plateau {
        /// Steps between two looks at the full data.
        every: u64,
        /// The gain in log posterior, per parameter, that counts as progress.
        tolerance: f64,
        /// How many stretches without progress end the search.
        patience: u32,
    },
}

/// By how much the rate falls after a stretch without progress.
const RATE_DECAY: f64 = 1.0 / 3.0;

impl Default for ModeSearch<Adam> {
    fn default() -> Self {
        let stop = Stop::Plateau { every: 200, tolerance: 0.005, patience: 5 };
        Self { optimiser: Adam::default(), max_iterations: 10_000, stop, seed: 0 }
    }
}

impl ModeSearch<Sgd> {
    /// R's search: exactly `iterations` steps θ += step_size · ĝ(θ).
    pub fn as_in_r(step_size: f64, iterations: u64) -> Self {
        Self { optimiser: Sgd { step_size }, max_iterations: iterations, stop: Stop::Never, seed: 0 }
    }
}

impl<O: Optimiser> ModeSearch<O> {
    /// Searches from `start` on the gradients of `estimator`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or the search diverges (the step size is too large), and the errors of the estimator
    /// and the model.
    pub fn run<G: GradientEstimator>(
        &self,
        estimator: G,
        evaluator: Box<dyn Evaluator>,
        start: &[f64],
    ) -> Result<Mode> {
        self.check()?;
        self.climb(&mut Oracle::new(estimator, evaluator, start, ChainRng::new(self.seed, 0))?, start)
    }

    /// Searches from `start` on the gradients of `oracle`.
    pub(super) fn climb<G: GradientEstimator>(&self, oracle: &mut Oracle<G>, start: &[f64]) -> Result<Mode> {
        self.check()?;
        let mut climb = Climb::begin(self, oracle, start)?;
        let (every, tolerance, patience) = match self.stop {
            Stop::Never => (self.max_iterations, f64::NEG_INFINITY, u32::MAX),
            Stop::Plateau { every, tolerance, patience } => (every, tolerance * start.len() as f64, patience),
        };
        let mut idle = 0;
        while climb.iterations < self.max_iterations && idle < patience {
            climb.stretch(oracle, every.min(self.max_iterations - climb.iterations))?;
            idle = if climb.look(oracle, tolerance)? { 0 } else { idle + 1 };
        }
        Ok(climb.finish(if idle >= patience { Ending::Converged } else { Ending::IterationLimit }))
    }

    fn check(&self) -> Result<()> {
        if self.max_iterations == 0 {
            let expected = "take at least 1 step";
            return Err(Error::Setting { name: "max_iterations", value: "0".into(), expected });
        }
        if let Stop::Plateau { every: 0, .. } = self.stop {
            let expected = "take at least 1 step between two looks at the full data";
            return Err(Error::Setting { name: "every", value: "0".into(), expected });
        }
        Ok(())
    }
}

impl<O: Optimiser> ModeFinder for ModeSearch<O> {
    fn find<S: Scheme>(&self, evaluator: Box<dyn Evaluator>, minibatches: Option<S>, start: &[f64]) -> Result<Mode> {
        match minibatches {
            Some(scheme) => self.run(variance_reduced(scheme, evaluator.observations())?, evaluator, start),
            None => self.run(FullGradient, evaluator, start),
        }
    }
}

/// SVRG with a full pass for every N observations drawn.
pub(super) fn variance_reduced<S: Scheme>(scheme: S, observations: usize) -> Result<Svrg<S>> {
    let period = observations / minibatch_size(&scheme, observations)?;
    Ok(Svrg::new(scheme, period.max(1) as u64))
}

/// A search in progress.
struct Climb<'a, O: Optimiser> {
    optimiser: &'a O,
    state: O::State,
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
    fn at(theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self> {
        let mut gradient = vec![0.0; theta.len()];
        let log_posterior = evaluator.posterior(theta, evaluator.all_rows(), &mut gradient)?;
        let gradient_norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        Ok(Self { theta: theta.to_vec(), log_posterior, gradient_norm })
    }
}

impl<'a, O: Optimiser> Climb<'a, O> {
    fn begin<G: GradientEstimator>(search: &'a ModeSearch<O>, oracle: &mut Oracle<G>, start: &[f64]) -> Result<Self> {
        let best = Point::at(start, oracle.evaluator())?;
        Ok(Self {
            optimiser: &search.optimiser,
            state: search.optimiser.init(start.len()),
            rate: 1.0,
            theta: start.to_vec(),
            gradient: vec![0.0; start.len()],
            start_log_posterior: best.log_posterior,
            best,
            iterations: 0,
            full_passes: 1,
        })
    }

    fn stretch<G: GradientEstimator>(&mut self, oracle: &mut Oracle<G>, steps: u64) -> Result<()> {
        for _ in 0..steps {
            self.iterations += 1;
            oracle.fresh(&self.theta, &mut self.gradient)?;
            self.optimiser.step(&mut self.state, self.rate, &mut self.theta, &self.gradient);
            if let Some(index) = self.theta.iter().position(|value| !value.is_finite()) {
                return Err(Error::Diverged {
                    what: "the mode search: the value",
                    element: oracle.layout().coordinate(index),
                    value: self.theta[index],
                    iteration: self.iterations,
                    remedy: "use a smaller step size for the optimiser",
                });
            }
        }
        Ok(())
    }

    /// Looks at the full data; whether the last stretch gained more than `tolerance`. If not, goes back and slows down.
    fn look<G: GradientEstimator>(&mut self, oracle: &mut Oracle<G>, tolerance: f64) -> Result<bool> {
        let here = Point::at(&self.theta, oracle.evaluator())?;
        self.full_passes += 1;
        let gain = here.log_posterior - self.best.log_posterior;
        if gain > 0.0 || tolerance == f64::NEG_INFINITY {
            self.best = here;
        }
        let progress = gain > tolerance;
        if !progress {
            self.rate *= RATE_DECAY;
            self.theta.copy_from_slice(&self.best.theta);
            self.state = self.optimiser.init(self.theta.len());
        }
        Ok(progress)
    }

    fn finish(self, ending: Ending) -> Mode {
        Mode {
            theta: self.best.theta,
            log_posterior: self.best.log_posterior,
            gradient_norm: self.best.gradient_norm,
            start_log_posterior: self.start_log_posterior,
            iterations: self.iterations,
            full_passes: self.full_passes,
            ending,
            promised_gain: None,
        }
    }
}
