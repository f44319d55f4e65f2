//! The posterior mode by L-BFGS on all observations: θ += a H ∇ log p(θ|x), H the L-BFGS matrix of the last pairs, a by a line search.
//!
//! Source: Nocedal & Wright (2006), algorithm 7.5. Cost: a little more than one full gradient per iteration, and the verification at the end.
//!
//! The gain that a Newton step promises is in units of log posterior, whatever the scale of the parameters. The L-BFGS matrix underestimates it:
//! on badly scaled parameters by any factor. Where its own estimate gᵀHg/2 is below the tolerance, or the line search finds no better point,
//! the step is computed with second differences of the log posterior; the search ends there or goes on with that step.

use sgmcmc_linalg::{Initial, Lbfgs, vector::dot};

use super::line::{self, Point};
use super::newton::{self, Newton};
use super::{Ending, Mode, ModeFinder, NEGLIGIBLE_GAIN};
use crate::data::Precision;
use crate::engine::Evaluator;
use crate::error::{Error, Result};
use crate::minibatch::Scheme;

/// L-BFGS on all observations.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `memory` | 10 | pairs remembered | ≥ 1 |
/// | `max_iterations` | 1000 | most steps taken | ≥ 1 |
/// | `tolerance` | 1e-9 | the gain in log posterior that is not worth a step | > 0 |
///
/// The search has [converged](Ending::Converged) if gᵀH⁻¹g/2 ≤ `tolerance` with H the Hessian, not its L-BFGS approximation: the gain that
/// a Newton step promises. It is verified at the end with about 2d + 4 full gradients up to 100 parameters, and with at most 200 beyond.
///
/// The search has [stalled](Ending::Stalled) if no better point is found although a Newton step promises more, or if the gain cannot be
/// verified, for instance because the Hessian is not positive definite. [`Mode::promised_gain`] has the gain where it is known.
///
/// In single precision gains below 10⁻⁴ (one percent of a posterior standard deviation) cannot be told from rounding: a smaller tolerance counts
/// as 10⁻⁴. Directions of small curvature cannot be seen at all: a search with more than 100 parameters, or with a Hessian that has an
/// eigenvalue below 10⁻³ when scaled to a diagonal of ones, ends as stalled, with the gain that is left in the directions that are seen.
///
/// # Examples
///
/// ```
/// use burn_tensor::Tensor;
/// use sgmcmc_core::{Dataset, LbfgsSearch, Model, Target, mode::Ending, zeros};
///
/// let model = Model::density(|theta: Tensor<1>| (theta - 3.0).powi_scalar(2).sum().neg());
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0, 0.0])?;
/// assert_eq!(mode.ending, Ending::Converged);
/// assert!(mode.theta.iter().all(|theta| (theta - 3.0).abs() < 1e-4));
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsSearch {
    /// Pairs remembered.
    pub memory: usize,
    /// Most steps taken.
    pub max_iterations: u64,
    /// The gain in log posterior that is not worth a step.
    pub tolerance: f64,
}

impl Default for LbfgsSearch {
    fn default() -> Self {
        Self { memory: 10, max_iterations: 1000, tolerance: 1e-9 }
    }
}

/// The least tolerance in single precision.
const SINGLE_TOLERANCE: f64 = 1e-4;
/// Most Newton steps taken where L-BFGS came to an end.
const NEWTON_STEPS: u32 = 10;
/// The share of the promised gain below which a Newton step is poor.
const POOR: f64 = 0.1;

/// A record of the Newton steps taken.
#[derive(Default)]
struct Corrections {
    count: u32,
    /// How many in a row brought a poor share of their promise.
    poor: u32,
    /// The gain promised by the last one, and the value before it.
    last: Option<(f64, f64)>,
}

impl Corrections {
    /// Whether another step that promises `gain` from a point with this value is not worth trying.
    fn exhausted(&self, gain: Option<f64>, value: f64, slack: f64) -> bool {
        let no_progress =
            |(before, at): (f64, f64)| gain.is_some_and(|gain| gain > 0.5 * before) && value - at <= slack;
        self.count == NEWTON_STEPS
            || self.last.is_some_and(no_progress)
            || (self.poor >= 2 && gain.is_none_or(|gain| gain <= NEGLIGIBLE_GAIN))
    }

    /// Records a step that promised `gain` and moved the value from `before` to `after`.
    fn record(&mut self, gain: Option<f64>, before: f64, after: f64) {
        self.count += 1;
        let poor = after - before < gain.map_or(NEGLIGIBLE_GAIN, |gain| POOR * gain);
        self.poor = if poor { self.poor + 1 } else { 0 };
        self.last = gain.map(|gain| (gain, before));
    }
}

impl LbfgsSearch {
    /// Searches from `start`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, and the model's error at the start.
    pub fn run(&self, evaluator: &mut dyn Evaluator, start: &[f64]) -> Result<Mode> {
        self.check()?;
        let tolerance = match evaluator.precision() {
            Precision::Single => self.tolerance.max(SINGLE_TOLERANCE),
            Precision::Double => self.tolerance,
        };
        let mut climb = Climb::begin(evaluator, start, self.memory)?;
        let start_log_posterior = climb.here.value;
        let (mut ending, mut promised_gain) = (Ending::IterationLimit, None);
        let (mut corrections, mut due) = (Corrections::default(), climb.first_newton());
        while climb.iterations < self.max_iterations {
            let estimate = climb.quasi_newton_direction();
            let slack = climb.here.slack(climb.evaluator.precision());
            let (promising, slow) = (estimate > tolerance.max(slack), climb.iterations >= due);
            if promising && !slow && climb.step() {
                continue;
            }
            let (gain, verified) = climb.newton_direction(tolerance);
            due = climb.iterations + 2 * start.len() as u64;
            if gain.is_some_and(|gain| gain <= tolerance) {
                promised_gain = gain;
                ending = if verified { Ending::Converged } else { Ending::Stalled };
                break;
            }
            if promising && slow {
                // If this finds no better point, L-BFGS continues.
                climb.step();
                continue;
            }
            if promising {
                // The pairs misled.
                climb.pairs.clear();
            }
            let value = climb.here.value;
            if corrections.exhausted(gain, value, slack) || !climb.step() {
                (ending, promised_gain) = (Ending::Stalled, gain);
                break;
            }
            corrections.record(gain, value, climb.here.value);
        }
        let Climb { here, iterations, full_passes, .. } = climb;
        let gradient_norm = dot(&here.gradient, &here.gradient).sqrt();
        let (theta, log_posterior) = (here.theta, here.value);
        Ok(Mode {
            theta,
            log_posterior,
            gradient_norm,
            start_log_posterior,
            iterations,
            full_passes,
            ending,
            promised_gain,
        })
    }

    fn check(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if self.memory == 0 {
            return refuse("the memory of L-BFGS", "0".into(), "it must be at least 1");
        }
        if self.max_iterations == 0 {
            return refuse("max_iterations", "0".into(), "take at least 1 step");
        }
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return refuse("the tolerance", self.tolerance.to_string(), "it must be a positive number");
        }
        Ok(())
    }
}

impl ModeFinder for LbfgsSearch {
    fn find<S: Scheme>(
        &self,
        mut evaluator: Box<dyn Evaluator>,
        _minibatches: Option<S>,
        start: &[f64],
    ) -> Result<Mode> {
        self.run(evaluator.as_mut(), start)
    }
}

/// A search in progress.
struct Climb<'a> {
    evaluator: &'a mut dyn Evaluator,
    here: Point,
    there: Point,
    direction: Vec<f64>,
    /// The difference of the gradients of the last step.
    y: Vec<f64>,
    pairs: Lbfgs,
    iterations: u64,
    full_passes: u64,
}

impl<'a> Climb<'a> {
    fn begin(evaluator: &'a mut dyn Evaluator, start: &[f64], memory: usize) -> Result<Self> {
        let here = Point::at(evaluator, start)?;
        let first = 1.0 / dot(&here.gradient, &here.gradient).sqrt().max(1.0);
        let pairs = Lbfgs::new(start.len(), memory, Initial::Newest(first));
        let (there, direction, y) = (here.clone(), vec![0.0; start.len()], vec![0.0; start.len()]);
        Ok(Self { evaluator, here, there, direction, y, pairs, iterations: 0, full_passes: 1 })
    }

    /// The number of steps after which L-BFGS is slow and Newton steps are tried, which then cost as much as the steps between two of them.
    fn first_newton(&self) -> u64 {
        let d = self.here.theta.len();
        if d <= newton::DENSE { 100 + 2 * d as u64 } else { u64::MAX }
    }

    /// Sets the direction to that of L-BFGS; returns the gain that the L-BFGS matrix promises.
    fn quasi_newton_direction(&mut self) -> f64 {
        self.direction.copy_from_slice(&self.here.gradient);
        self.pairs.inverse_product(&mut self.direction);
        0.5 * dot(&self.here.gradient, &self.direction)
    }

    /// Sets the direction to that of Newton; returns the gain that the Hessian promises, and whether a larger one is excluded.
    fn newton_direction(&mut self, tolerance: f64) -> (Option<f64>, bool) {
        let newton = Newton::at(self.evaluator, &self.here, &mut self.pairs, tolerance);
        self.direction = newton.direction;
        self.full_passes += newton.passes;
        (newton.gain, newton.verified)
    }

    /// Takes a step in the direction; returns whether there was a better point.
    fn step(&mut self) -> bool {
        self.iterations += 1;
        let Self { evaluator, here, there, direction, y, pairs, full_passes, .. } = self;
        if !line::search(*evaluator, here, direction, there, full_passes) {
            return false;
        }
        direction.iter_mut().zip(&there.theta).zip(&here.theta).for_each(|((s, there), here)| *s = there - here);
        y.iter_mut().zip(&here.gradient).zip(&there.gradient).for_each(|((y, here), there)| *y = here - there);
        pairs.push(direction, y);
        std::mem::swap(here, there);
        true
    }
}
