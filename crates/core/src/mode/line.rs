//! A line search that halves and doubles the step until both Wolfe conditions hold: Lewis & Overton (2013), algorithm 2.6.
//!
//! Where two values differ by less than their rounding error, slopes decide: the approximate Wolfe conditions of Hager & Zhang (2005), eq. (4.1).

use sgmcmc_linalg::vector::dot;

use crate::data::Precision;
use crate::engine::Evaluator;
use crate::error::Result;

/// The share of the promised gain that a step must bring.
const ARMIJO: f64 = 1e-4;
/// The share of the slope that may be left after a step.
const WOLFE: f64 = 0.9;
/// How often a step is doubled.
const DOUBLINGS: u32 = 60;
/// How often an interval that holds a suitable step is halved.
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
    pub(super) fn at(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Self> {
        let mut point = Self { theta: theta.to_vec(), gradient: vec![0.0; theta.len()], value: f64::NAN };
        point.evaluate(evaluator)?;
        Ok(point)
    }

    fn evaluate(&mut self, evaluator: &mut dyn Evaluator) -> Result<()> {
        self.gradient.fill(0.0);
        self.value = evaluator.posterior(&self.theta, evaluator.all_rows(), &mut self.gradient)?;
        Ok(())
    }

    /// The rounding error of the value.
    pub(super) fn slack(&self, precision: Precision) -> f64 {
        let rounding = match precision {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        8.0 * rounding * self.value.abs()
    }
}

/// Moves `there` to a point on the line from `here` along `direction` that meets both conditions; returns whether there is one. A point at
/// which the model fails or is not finite is too far. Adds the passes over the data to `passes`.
pub(super) fn search(
    evaluator: &mut dyn Evaluator,
    here: &Point,
    direction: &[f64],
    there: &mut Point,
    passes: &mut u64,
) -> bool {
    let (slope, slack) = (dot(&here.gradient, direction), here.slack(evaluator.precision()));
    if slope.is_nan() || slope <= 0.0 {
        return false;
    }
    let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
    let (mut doublings, mut halvings) = (0, 0);
    while doublings < DOUBLINGS && halvings < HALVINGS {
        for ((there, here), along) in there.theta.iter_mut().zip(&here.theta).zip(direction) {
            *there = here + step * along;
        }
        *passes += 1;
        let gain = if there.evaluate(evaluator).is_ok() { there.value - here.value } else { f64::NAN };
        let left = dot(&there.gradient, direction);
        let risen = gain >= ARMIJO * step * slope;
        let level = gain >= -slack && left >= -(1.0 - 2.0 * ARMIJO) * slope;
        if !(left.is_finite() && (risen || level)) {
            high = step;
        } else if left > WOLFE * slope {
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
