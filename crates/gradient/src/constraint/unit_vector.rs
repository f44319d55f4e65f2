//! Unit vectors: x = y/‖y‖.
//!
//! There is one coordinate more than degrees of freedom. As in Stan, the term −½ Σ y² replaces the log-Jacobian: it
//! gives the norm of y a proper density, and y is standard normal if x is uniform.

use std::fmt;

use super::{Groups, OutsideError, TOLERANCE, Transform};

pub(super) struct UnitVector;

impl Transform for UnitVector {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("of norm 1 along the last axis")
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        Groups::along_last_axis(shape, 2, 0).ok_or("a unit vector needs at least 2 entries in its last axis")
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        let norm = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        x.iter_mut().zip(y).for_each(|(x, y)| *x = y / norm);
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        let square: f64 = x.iter().map(|x| x * x).sum();
        if square.is_nan() || (square - 1.0).abs() > TOLERANCE {
            return Err(OutsideError { index: 0, value: x[0] });
        }
        y.copy_from_slice(x);
        Ok(())
    }

    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(y).for_each(|(g, y)| *g -= factor * y);
        -0.5 * y.iter().map(|y| y * y).sum::<f64>()
    }
}
