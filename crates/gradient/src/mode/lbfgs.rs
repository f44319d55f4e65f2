//! The search for the mode by L-BFGS on all observations.
//!
//! The predicted gain of a Newton step is in units of log posterior and does not depend on the scale of the parameters.
//! The L-BFGS matrix underestimates it, for badly scaled parameters by an unbounded factor. If the estimate gᵀBg/2 with
//! the L-BFGS matrix B is below the tolerance, or if the line search finds no better point, the Newton step is computed
//! with differences of gradients. The search ends there or continues with that step.

use sgmcmc_numerics::{InitialScale, Lbfgs, vector::dot};

use super::line::{self, Point};
use super::newton::{self, Newton};
use super::{Mode, ModeFinder, NEGLIGIBLE_GAIN, SearchOutcome};
use crate::data::Precision;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::minibatch::Scheme;
use crate::settings;

/// L-BFGS on all observations.
///
/// θ += a B ∇ log p(θ|x), where B is the L-BFGS approximation of the inverse Hessian and a is the step of a line
/// search. The cost is a little more than one gradient over all observations per iteration, and the verification at the
/// end.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `memory` | 10 | the number of stored pairs | ≥ 1 |
/// | `max_iterations` | 1000 | the maximum number of steps | ≥ 1 |
/// | `tolerance` | 1e-9 | the largest negligible gain in log posterior | > 0 |
/// | `newton_steps` | 10 | the maximum number of Newton steps after L-BFGS has stopped; 0 omits the verification | |
///
/// The search has [converged](SearchOutcome::Converged) if gᵀH⁻¹g/2 ≤ `tolerance`, the predicted gain of a Newton step
/// with the Hessian H and not its L-BFGS approximation. The gain is verified at the end, with about 2d + 4 full
/// gradients for up to 100 parameters, and with at most 200 for more.
///
/// The search has [stalled](SearchOutcome::Stalled) if no better point is found although the predicted gain is larger,
/// or if the gain cannot be verified, for instance because the Hessian is not positive definite.
/// [`Mode::predicted_gain`] is the gain if it is known.
///
/// In single precision, gains below 10⁻⁴ (one percent of a posterior standard deviation) are below the rounding error,
/// so that a smaller tolerance is replaced by 10⁻⁴. Directions of small curvature are not resolved. A search with more
/// than 100 parameters, or with a Hessian that has an eigenvalue below 10⁻³ when it is scaled to a unit diagonal,
/// therefore ends as stalled, with the remaining gain in the resolved directions.
///
/// Source: Nocedal & Wright (2006), algorithm 7.5.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::{LbfgsSearch, SearchOutcome};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| (theta - 3.0).powi_scalar(2).sum().neg());
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0, 0.0])?;
/// assert_eq!(mode.outcome, SearchOutcome::Converged);
/// assert!(mode.theta.iter().all(|theta| (theta - 3.0).abs() < 1e-4));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LbfgsSearch {
    /// The number of stored pairs.
    pub memory: usize,
    /// The maximum number of steps.
    pub max_iterations: u64,
    /// The largest negligible gain in log posterior.
    pub tolerance: f64,
    /// The maximum number of Newton steps after L-BFGS has stopped. With 0 the search ends there, unverified.
    pub newton_steps: u32,
}

impl Default for LbfgsSearch {
    fn default() -> Self {
        Self { memory: 10, max_iterations: 1000, tolerance: 1e-9, newton_steps: 10 }
    }
}

/// The smallest tolerance in single precision.
const SINGLE_TOLERANCE: f64 = 1e-4;
/// The share of the predicted gain below which a Newton step is poor.
const POOR: f64 = 0.1;

/// A Newton step of known predicted gain.
#[derive(Clone, Copy)]
struct PastStep {
    predicted_gain: f64,
    /// The log posterior before the step.
    value: f64,
}

/// The history of Newton steps.
#[derive(Default)]
struct NewtonHistory {
    count: u32,
    /// The number of consecutive poor steps.
    poor: u32,
    /// The last step, if its predicted gain was known.
    last: Option<PastStep>,
}

impl NewtonHistory {
    /// Returns `true` if there were `most` steps, or if another one with the predicted gain `gain` from a point with this
    /// log posterior is unlikely to help.
    fn is_exhausted(&self, most: u32, gain: Option<f64>, value: f64, slack: f64) -> bool {
        let no_progress =
            |last: PastStep| gain.is_some_and(|gain| gain > 0.5 * last.predicted_gain) && value - last.value <= slack;
        self.count >= most
            || self.last.is_some_and(no_progress)
            || (self.poor >= 2 && gain.is_none_or(|gain| gain <= NEGLIGIBLE_GAIN))
    }

    /// Records a step with the predicted gain `gain` that changed the log posterior from `before` to `after`.
    fn record(&mut self, gain: Option<f64>, before: f64, after: f64) {
        self.count += 1;
        let poor = after - before < gain.map_or(NEGLIGIBLE_GAIN, |gain| POOR * gain);
        self.poor = if poor { self.poor + 1 } else { 0 };
        self.last = gain.map(|predicted_gain| PastStep { predicted_gain, value: before });
    }
}

impl LbfgsSearch {
    /// Searches from the coordinates `start`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, or the error of the model at `start`.
    pub fn run(&self, evaluator: &mut dyn Evaluator, start: &[f64]) -> Result<Mode> {
        self.check()?;
        let tolerance = match evaluator.precision() {
            Precision::Single => self.tolerance.max(SINGLE_TOLERANCE),
            Precision::Double => self.tolerance,
        };
        let mut ascent = Ascent::new(evaluator, start, self.memory)?;
        let start_log_posterior = ascent.current.value;
        let (mut outcome, mut predicted_gain) = (SearchOutcome::IterationLimit, None);
        let (mut history, mut next_newton) = (NewtonHistory::default(), ascent.first_newton());
        while ascent.iterations < self.max_iterations {
            let estimate = ascent.quasi_newton_direction();
            let slack = ascent.current.slack(ascent.evaluator.precision());
            let (worthwhile, slow) = (estimate > tolerance.max(slack), ascent.iterations >= next_newton);
            let unverified = self.newton_steps == 0;
            if worthwhile && (!slow || unverified) && ascent.step() {
                continue;
            }
            if unverified {
                outcome = SearchOutcome::Stalled;
                break;
            }
            let (gain, verified) = ascent.newton_direction(tolerance);
            next_newton = ascent.iterations + 2 * start.len() as u64;
            if gain.is_some_and(|gain| gain <= tolerance) {
                predicted_gain = gain;
                outcome = if verified { SearchOutcome::Converged } else { SearchOutcome::Stalled };
                break;
            }
            if worthwhile && slow {
                // If this step finds no better point, L-BFGS continues.
                ascent.step();
                continue;
            }
            if worthwhile {
                // The line search failed along the L-BFGS direction, so that the stored pairs are misleading.
                ascent.pairs.clear();
            }
            let value = ascent.current.value;
            if history.is_exhausted(self.newton_steps, gain, value, slack) || !ascent.step() {
                (outcome, predicted_gain) = (SearchOutcome::Stalled, gain);
                break;
            }
            history.record(gain, value, ascent.current.value);
        }
        let Ascent { current, iterations, full_passes, .. } = ascent;
        let gradient_norm = dot(&current.gradient, &current.gradient).sqrt();
        Ok(Mode {
            theta: current.theta,
            log_posterior: current.value,
            gradient_norm,
            start_log_posterior,
            iterations,
            full_passes,
            outcome,
            predicted_gain,
        })
    }

    fn check(&self) -> Result<()> {
        settings::at_least("the memory of L-BFGS", self.memory, 1, "it must be at least 1")?;
        settings::at_least("max_iterations", self.max_iterations, 1, "take at least 1 step")?;
        settings::positive("the tolerance", self.tolerance)?;
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

/// The state of a running search.
struct Ascent<'a> {
    evaluator: &'a mut dyn Evaluator,
    current: Point,
    /// The next point, and scratch memory of the line search.
    candidate: Point,
    direction: Vec<f64>,
    /// The difference of the gradients of the last step.
    y: Vec<f64>,
    pairs: Lbfgs,
    iterations: u64,
    full_passes: u64,
}

impl<'a> Ascent<'a> {
    fn new(evaluator: &'a mut dyn Evaluator, start: &[f64], memory: usize) -> Result<Self> {
        let current = Point::new(evaluator, start)?;
        let first = 1.0 / dot(&current.gradient, &current.gradient).sqrt().max(1.0);
        let pairs = Lbfgs::new(start.len(), memory, InitialScale::Newest(first));
        let (candidate, direction, y) = (current.clone(), vec![0.0; start.len()], vec![0.0; start.len()]);
        Ok(Self { evaluator, current, candidate, direction, y, pairs, iterations: 0, full_passes: 1 })
    }

    /// Returns the number of steps after which L-BFGS counts as slow and Newton steps are tried. Each of them costs as
    /// much as the L-BFGS steps between two Newton steps.
    fn first_newton(&self) -> u64 {
        let d = self.current.theta.len();
        if d <= newton::DENSE { 100 + 2 * d as u64 } else { u64::MAX }
    }

    /// Sets the direction to that of L-BFGS. Returns the gain that the L-BFGS matrix predicts.
    fn quasi_newton_direction(&mut self) -> f64 {
        self.direction.copy_from_slice(&self.current.gradient);
        self.pairs.inverse_product(&mut self.direction);
        0.5 * dot(&self.current.gradient, &self.direction)
    }

    /// Sets the direction to that of Newton. Returns the gain that the Hessian predicts, and whether a larger gain is
    /// excluded.
    fn newton_direction(&mut self, tolerance: f64) -> (Option<f64>, bool) {
        let newton = Newton::new(self.evaluator, &self.current, &mut self.pairs, tolerance);
        self.direction = newton.direction;
        self.full_passes += newton.passes;
        (newton.gain, newton.verified)
    }

    /// Takes a step along the direction. Returns `false` if there is no better point.
    fn step(&mut self) -> bool {
        self.iterations += 1;
        let Self { evaluator, current, candidate, direction, y, pairs, full_passes, .. } = self;
        if !line::search(*evaluator, current, direction, candidate, full_passes) {
            return false;
        }
        direction.iter_mut().zip(&candidate.theta).zip(&current.theta).for_each(|((s, next), last)| *s = next - last);
        y.iter_mut().zip(&current.gradient).zip(&candidate.gradient).for_each(|((y, last), next)| *y = last - next);
        pairs.push(direction, y);
        std::mem::swap(current, candidate);
        true
    }
}
