//! A simplex by normalization: xₖ = eʸᵏ/Σⱼ eʸʲ.
//!
//! There is one coordinate more than degrees of freedom. The term Σ y − Σ eʸ replaces the log-Jacobian: it gives the
//! sum r = Σ eʸ the density of a Gamma(K, 1) variate, independent of x, and the eʸᵏ are independent standard exponential
//! variates if x is uniform. Algorithms for the simplex move y = log θ of gamma variates θ.

use std::fmt;

use super::{Groups, OutsideError, Transform, check_simplex};

pub(super) struct Softmax;

impl Transform for Softmax {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("positive and adding up to 1 along the last axis")
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        Groups::along_last_axis(shape, 2, 0).ok_or("a simplex needs at least 2 entries in its last axis")
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        // The largest exponent is zero, so that nothing overflows and the sum is at least one.
        let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        x.iter_mut().zip(y).for_each(|(x, y)| *x = (y - largest).exp());
        let total: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= total);
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        check_simplex(x)?;
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x.ln());
        Ok(())
    }

    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        let mut log_jacobian = 0.0;
        for (y, g) in y.iter().zip(gradient) {
            let theta = y.exp();
            log_jacobian += y - theta;
            *g += factor * (1.0 - theta);
        }
        log_jacobian
    }
}
