//! A line search for both Wolfe conditions by bisection and doubling: Lewis & Overton (2013), algorithm 2.6.
//!
//! If two values differ by less than their rounding error, the approximate Wolfe conditions of Hager & Zhang (2005),
//! eq. (4.1), are used, which compare slopes.

use sgmcmc_numerics::vector::dot;

use crate::data::Precision;
use crate::error::Result;
use crate::evaluator::Evaluator;

/// The minimum share of the gain predicted by the slope (Armijo condition).
const ARMIJO: f64 = 1e-4;
/// The maximum share of the slope after a step (curvature condition).
const WOLFE: f64 = 0.9;
/// The maximum number of doublings of the step.
const DOUBLINGS: u32 = 60;
/// The maximum number of bisections of an interval that contains a suitable step.
const HALVINGS: u32 = 30;

/// A point with the value and the gradient of the log posterior.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) theta: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) value: f64,
}

impl Point {
    /// Evaluates the log posterior at `theta`.
    pub(super) fn new(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Self> {
        let mut point = Self { theta: theta.to_vec(), gradient: vec![0.0; theta.len()], value: f64::NAN };
        point.evaluate(evaluator)?;
        Ok(point)
    }

    /// Updates the value and the gradient.
    fn evaluate(&mut self, evaluator: &mut dyn Evaluator) -> Result<()> {
        self.gradient.fill(0.0);
        self.value = evaluator.posterior(&self.theta, evaluator.all_rows(), &mut self.gradient)?;
        Ok(())
    }

    /// Returns the rounding error of the value.
    pub(super) fn slack(&self, precision: Precision) -> f64 {
        let rounding = match precision {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        8.0 * rounding * self.value.abs()
    }
}

/// Moves `candidate` to a point on the line from `current` along `direction` that meets both conditions. Returns
/// `false` if none is found. If the model fails or is not finite at a point, the step is too long. Adds the passes over
/// the data to `passes`.
pub(super) fn search(
    evaluator: &mut dyn Evaluator,
    current: &Point,
    direction: &[f64],
    candidate: &mut Point,
    passes: &mut u64,
) -> bool {
    let (slope, slack) = (dot(&current.gradient, direction), current.slack(evaluator.precision()));
    if slope.is_nan() || slope <= 0.0 {
        return false;
    }
    let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
    let (mut doublings, mut halvings) = (0, 0);
    while doublings < DOUBLINGS && halvings < HALVINGS {
        for ((next, theta), along) in candidate.theta.iter_mut().zip(&current.theta).zip(direction) {
            *next = theta + step * along;
        }
        *passes += 1;
        let gain = if candidate.evaluate(evaluator).is_ok() { candidate.value - current.value } else { f64::NAN };
        let new_slope = dot(&candidate.gradient, direction);
        let armijo = gain >= ARMIJO * step * slope;
        let approximate = gain >= -slack && new_slope >= -(1.0 - 2.0 * ARMIJO) * slope;
        if !(new_slope.is_finite() && (armijo || approximate)) {
            high = step;
        } else if new_slope > WOLFE * slope {
            low = step;
        } else {
            return true;
        }
        if high.is_finite() {
            (step, halvings) = (0.5 * (low + high), halvings + 1);
        } else {
            (step, doublings) = (2.0 * low, doublings + 1);
        }
    }
    false
}
