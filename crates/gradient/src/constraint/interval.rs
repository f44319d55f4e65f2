//! Values between two bounds: x = a + (b − a) σ(y), log |∂x/∂y| = log(b − a) + log σ(y) + log σ(−y).

use std::fmt;

use super::{Groups, OutsideError, Transform, elementwise, log_sigmoid};

pub(super) struct Interval {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Transform for Interval {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "between {} and {}", self.lower, self.upper)
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        if self.lower < self.upper && self.lower.is_finite() && self.upper.is_finite() {
            Ok(Groups::elementwise(shape))
        } else {
            Err("the lower bound must be below the upper bound, and both finite")
        }
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        let Self { lower, upper } = *self;
        // The distance is measured from the nearer bound, so that values close to a bound are accurate.
        let distance = |y: f64| (upper - lower) * log_sigmoid(y).exp();
        let value = |y: f64| if y < 0.0 { lower + distance(y) } else { upper - distance(-y) };
        x.iter_mut().zip(y).for_each(|(x, y)| *x = value(*y));
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        let Self { lower, upper } = *self;
        elementwise(x, y, |x| (lower < x && x < upper).then(|| (x - lower).ln() - (upper - x).ln()))
    }

    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        let mut log_jacobian = y.len() as f64 * (self.upper - self.lower).ln();
        for (y, g) in y.iter().zip(gradient) {
            log_jacobian += log_sigmoid(*y) + log_sigmoid(-*y);
            // The derivative of log σ(y) + log σ(−y) is 1 − 2 σ(y) = −tanh(y/2).
            *g -= factor * (0.5 * y).tanh();
        }
        log_jacobian
    }
}
