//! Positive increasing vectors: x₁ = e^{y₁}, xₖ = xₖ₋₁ + e^{yₖ}, log |∂x/∂y| = Σ yₖ.

use std::fmt;

use super::ordered::{add_steps, log_steps};
use super::{Groups, OutsideError, Transform, log_jacobian_of_exponentials};

pub(super) struct PositiveOrdered;

impl Transform for PositiveOrdered {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("positive and increasing along the last axis")
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        Groups::along_last_axis(shape, 1, 0).ok_or("an ordered vector needs at least 1 entry")
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        x[0] = y[0].exp();
        add_steps(y, x);
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        if x[0].is_nan() || x[0] <= 0.0 {
            return Err(OutsideError { index: 0, value: x[0] });
        }
        y[0] = x[0].ln();
        log_steps(x, y)
    }

    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        log_jacobian_of_exponentials(y, factor, gradient)
    }
}
