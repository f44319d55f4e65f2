//! Finding the posterior mode, where control variates are centred and chains may start.
//!
//! [`ModeSearch`] climbs the log posterior with any [`Optimiser`] on the gradients of any estimator, and looks at the full
//! data at intervals: it keeps the best point seen, lowers the rate when a stretch brought nothing, and stops when several
//! stretches in a row brought less than `tolerance`. The gain is measured in log posterior: a point one tenth of a
//! posterior standard deviation off the mode in each of d directions is 0.005 d below it.
//!
//! [`LbfgsSearch`] climbs on all observations at every step: the quickest and closest where a full gradient is affordable.
//!
//! On plain minibatch gradients the last posterior standard deviation is slow going, because there the gradient is smaller than
//! its noise; with [`Svrg`](crate::gradient::Svrg) and a period of about N/n the search gets as close as one likes.

mod adam;
mod lbfgs;
mod sgd;

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use adam::Adam;
pub use lbfgs::LbfgsSearch;
pub use sgd::Sgd;

use crate::engine::Evaluator;
use crate::error::{Error, Result};
use crate::gradient::{GradientEstimator, Oracle};
use crate::rng::ChainRng;

/// One step uphill. Immutable; what it remembers is its state.
pub trait Optimiser: Send + Sync {
    /// What the next step needs.
    type State: Clone + Send + Serialize + DeserializeOwned;

    /// The state before the first step of `dim` parameters.
    fn init(&self, dim: usize) -> Self::State;

    /// Moves `theta` along the gradient `g`, with the step size multiplied by `rate`.
    fn step(&self, state: &mut Self::State, rate: f64, theta: &mut [f64], g: &[f64]);
}

/// How the mode is looked for.
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

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The log posterior had stopped growing.
    Converged,
    /// The last iteration allowed was reached.
    IterationLimit,
}

/// The best point found, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// The point.
    pub theta: Vec<f64>,
    /// log p(θ|x) there, up to the normalising constant, over all observations.
    pub log_posterior: f64,
    /// The Euclidean norm of the exact gradient there.
    pub gradient_norm: f64,
    /// log p(θ|x) where the search began.
    pub start_log_posterior: f64,
    /// Steps taken.
    pub iterations: u64,
    /// Passes over all observations.
    pub full_passes: u64,
    /// Why the search ended.
    pub ending: Ending,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.ending {
            Ending::Converged => "converged",
            Ending::IterationLimit => "stopped at the iteration limit",
        };
        write!(
            f,
            "{ending} after {} steps and {} full passes: log posterior {:.3} (from {:.3}), gradient norm {:.3e}",
            self.iterations, self.full_passes, self.log_posterior, self.start_log_posterior, self.gradient_norm
        )
    }
}

impl<O: Optimiser> ModeSearch<O> {
    /// Climbs from `start` on the gradients of `estimator`.
    ///
    /// # Errors
    ///
    /// If the search leaves the finite numbers (the step size is too large), or as estimator and model do.
    pub fn run<G: GradientEstimator>(
        &self,
        estimator: G,
        evaluator: Box<dyn Evaluator>,
        start: &[f64],
    ) -> Result<Mode> {
        self.check()?;
        let mut oracle = Oracle::new(estimator, evaluator, start, ChainRng::new(self.seed, 0))?;
        let mut climb = Climb::begin(self, &mut oracle, start)?;
        let (every, tolerance, patience) = match self.stop {
            Stop::Never => (self.max_iterations, f64::NEG_INFINITY, u32::MAX),
            Stop::Plateau { every, tolerance, patience } => (every, tolerance * start.len() as f64, patience),
        };
        let mut idle = 0;
        while climb.iterations < self.max_iterations && idle < patience {
            climb.stretch(&mut oracle, every.min(self.max_iterations - climb.iterations))?;
            idle = if climb.look(&mut oracle, tolerance)? { 0 } else { idle + 1 };
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

/// A search under way.
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

/// A point with what the full data say of it.
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
        }
    }
}
