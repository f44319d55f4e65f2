//! Values that are not negative: x = |y|, log |∂x/∂y| = 0.
//!
//! Both signs of y have the same value, so that the density of y is ½ p(|y|): symmetric, and the law of x = |y| is p. A
//! chain on y is the chain x ← |x + …| that papers on non-negative matrix factorization and topic models use.

use std::fmt;

use super::{Groups, OutsideError, Transform, elementwise};

pub(super) struct Mirrored;

impl Transform for Mirrored {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("at least 0")
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        Ok(Groups::elementwise(shape))
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x = y.abs());
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        elementwise(x, y, |x| (x >= 0.0).then_some(x))
    }

    fn log_jacobian(&self, _y: &[f64], _factor: f64, _gradient: &mut [f64]) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use crate::{Constraint, Layout};

    #[test]
    fn both_signs_have_the_same_value_and_no_jacobian() {
        let layout = Layout::vector("x", 3).constrained("x", Constraint::Mirrored).unwrap();
        assert_eq!(layout.values(&[-2.0, 0.0, 3.0]).unwrap(), [2.0, 0.0, 3.0]);
        assert_eq!(layout.coordinates(&[2.0, 0.0, 3.0]).unwrap(), [2.0, 0.0, 3.0]);
        let error = layout.coordinates(&[2.0, -1.0, 3.0]).unwrap_err().to_string();
        assert!(error.contains("x[1]") && error.contains("at least 0"), "{error}");
        let mut gradient = [1.0, 2.0, 3.0];
        let jacobian = layout.log_jacobian(&[-2.0, 0.5, 3.0], 2.0, &mut gradient).unwrap();
        assert_eq!(
            [jacobian, gradient[0], gradient[1], gradient[2]].map(f64::to_bits),
            [0.0, 1.0, 2.0, 3.0].map(f64::to_bits)
        );
    }
}
