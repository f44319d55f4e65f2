//! Values below a bound b: x = b − eʸ, log |∂x/∂y| = y.

use std::fmt;

use super::{Groups, OutsideError, Transform, elementwise, log_jacobian_of_exponentials};

pub(super) struct Upper {
    pub(super) bound: f64,
}

impl Transform for Upper {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "less than {}", self.bound)
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        if self.bound.is_finite() { Ok(Groups::elementwise(shape)) } else { Err("a bound must be finite") }
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x = self.bound - y.exp());
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        elementwise(x, y, |x| (x < self.bound).then(|| (self.bound - x).ln()))
    }

    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        log_jacobian_of_exponentials(y, factor, gradient)
    }
}
