//! The posterior mode by L-BFGS on all observations: θ += a H ∇ log p(θ|x), H the L-BFGS matrix of the last pairs, a by a line search.
//!
//! Source: Nocedal & Wright (2006), algorithm 7.5; the line search halves and doubles until both Wolfe conditions hold (Lewis & Overton 2013,
//! algorithm 2.6), so that every pair has curvature. The search ends when the gain a Newton step promises, gᵀHg/2, is below
//! `tolerance`: that is in units of log posterior, whatever the scale of the parameters. Cost: a little more than one full gradient per iteration.

use sgmcmc_linalg::{Initial, Lbfgs, vector::dot};

use super::{Ending, Mode};
use crate::data::Precision;
use crate::engine::Evaluator;
use crate::error::{Error, Result};

/// L-BFGS on all observations.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `memory` | 10 | pairs remembered | ≥ 1 |
/// | `max_iterations` | 1000 | most steps taken | ≥ 1 |
/// | `tolerance` | 1e-9 | the gain in log posterior that is not worth a step | > 0 |
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

/// The share of the promised gain that a step must bring.
const ARMIJO: f64 = 1e-4;
/// The share of the slope that may be left after a step.
const WOLFE: f64 = 0.9;
/// Points tried in a line search.
const TRIALS: u32 = 60;

/// A point and what the full data say of it.
struct Point {
    theta: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
}

impl LbfgsSearch {
    /// Climbs from `start`.
    ///
    /// # Errors
    ///
    /// If a setting is out of range, or as the model does at the start.
    pub fn run(&self, evaluator: &mut dyn Evaluator, start: &[f64]) -> Result<Mode> {
        self.check()?;
        let mut full_passes = 0;
        let mut here = Point { theta: start.to_vec(), gradient: vec![0.0; start.len()], value: f64::NAN };
        here.value = look(evaluator, &here.theta, &mut here.gradient, &mut full_passes)?;
        let start_log_posterior = here.value;
        let mut there = Point { theta: here.theta.clone(), gradient: here.gradient.clone(), value: here.value };
        let first = 1.0 / dot(&here.gradient, &here.gradient).sqrt().max(1.0);
        let mut pairs = Lbfgs::new(start.len(), self.memory, Initial::Newest(first));
        let (mut direction, mut y) = (vec![0.0; start.len()], vec![0.0; start.len()]);
        let rounding = match evaluator.precision() {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        let (mut iterations, mut ending) = (0, Ending::IterationLimit);
        while iterations < self.max_iterations {
            direction.copy_from_slice(&here.gradient);
            pairs.inverse_product(&mut direction);
            let slope = dot(&here.gradient, &direction);
            // Less than the value is known by is nothing to be gained.
            let slack = 8.0 * rounding * here.value.abs();
            if 0.5 * slope <= self.tolerance.max(slack) {
                ending = Ending::Converged;
                break;
            }
            iterations += 1;
            let line = Line { direction: &direction, slope, slack };
            if !line.search(evaluator, &here, &mut there, &mut full_passes) {
                if pairs.is_empty() {
                    break;
                }
                // The pairs mislead: begin again from the gradient alone.
                pairs.clear();
                continue;
            }
            direction.iter_mut().zip(&there.theta).zip(&here.theta).for_each(|((s, there), here)| *s = there - here);
            y.iter_mut().zip(&here.gradient).zip(&there.gradient).for_each(|((y, here), there)| *y = here - there);
            pairs.push(&direction, &y);
            std::mem::swap(&mut here, &mut there);
        }
        let gradient_norm = dot(&here.gradient, &here.gradient).sqrt();
        let (theta, log_posterior) = (here.theta, here.value);
        Ok(Mode { theta, log_posterior, gradient_norm, start_log_posterior, iterations, full_passes, ending })
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

fn look(evaluator: &mut dyn Evaluator, theta: &[f64], gradient: &mut [f64], passes: &mut u64) -> Result<f64> {
    *passes += 1;
    gradient.fill(0.0);
    evaluator.posterior(theta, evaluator.all_rows(), gradient)
}

/// A line uphill.
struct Line<'a> {
    direction: &'a [f64],
    slope: f64,
    slack: f64,
}

impl Line<'_> {
    /// Puts `there` at a point of the line from `here` that meets both conditions; whether there was one. A point at which the model
    /// fails or is not finite is too far.
    fn search(&self, evaluator: &mut dyn Evaluator, here: &Point, there: &mut Point, passes: &mut u64) -> bool {
        let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..TRIALS {
            for ((there, here), along) in there.theta.iter_mut().zip(&here.theta).zip(self.direction) {
                *there = here + step * along;
            }
            let value = look(evaluator, &there.theta, &mut there.gradient, passes).unwrap_or(f64::NAN);
            let left = dot(&there.gradient, self.direction);
            there.value = value;
            let enough = value >= here.value + ARMIJO * step * self.slope - self.slack && left.is_finite();
            if !enough {
                high = step;
            } else if left > WOLFE * self.slope {
                low = step;
            } else {
                return true;
            }
            step = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * low };
        }
        false
    }
}
