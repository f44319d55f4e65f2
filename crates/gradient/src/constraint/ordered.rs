//! Increasing vectors: x₁ = y₁, xₖ = xₖ₋₁ + e^{yₖ}, log |∂x/∂y| = Σ_{k≥2} yₖ.

use std::fmt;

use super::{Groups, OutsideError, Transform, log_jacobian_of_exponentials};

pub(super) struct Ordered;

impl Transform for Ordered {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("increasing along the last axis")
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        Groups::along_last_axis(shape, 1, 0).ok_or("an ordered vector needs at least 1 entry")
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        x[0] = y[0];
        add_steps(y, x);
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        y[0] = x[0];
        log_steps(x, y)
    }

    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        log_jacobian_of_exponentials(&y[1..], factor, &mut gradient[1..])
    }
}

/// Writes all values but the first, xₖ = xₖ₋₁ + e^{yₖ}.
pub(super) fn add_steps(y: &[f64], x: &mut [f64]) {
    for k in 1..y.len() {
        x[k] = x[k - 1] + y[k].exp();
    }
}

/// Writes all coordinates but the first, yₖ = log(xₖ − xₖ₋₁).
pub(super) fn log_steps(x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
    for k in 1..x.len() {
        let step = x[k] - x[k - 1];
        if step.is_nan() || step <= 0.0 {
            return Err(OutsideError { index: k, value: x[k] });
        }
        y[k] = step.ln();
    }
    Ok(())
}
