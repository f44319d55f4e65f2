//! Arithmetic shared by numbers and tensors, so that each formula is implemented once for both.

use std::ops::{Add, Div, Mul, Sub};

use burn_tensor::Tensor;

use super::is_single;

/// A number or a tensor.
pub(crate) trait Real:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Returns self + number.
    fn plus(self, number: f64) -> Self;
    /// Returns self · number.
    fn times(self, number: f64) -> Self;
    /// Returns 1 / self.
    fn inverse(self) -> Self;
    /// Returns √self.
    fn root(self) -> Self;
    /// Returns log self.
    fn log(self) -> Self;
    /// Returns log(1 + self).
    fn log1p(self) -> Self;
    /// Returns whether the coefficients for single precision suffice.
    fn single(&self) -> bool;

    /// Returns Σⱼ coefficients\[j\] selfʲ, by Horner's rule.
    fn polynomial(self, coefficients: &[f64]) -> Self {
        let Some((last, [head @ .., second])) = coefficients.split_last() else {
            return self.times(0.0).plus(coefficients.iter().sum());
        };
        let start = self.clone().times(*last).plus(*second);
        head.iter().rev().fold(start, |sum, c| (sum * self.clone()).plus(*c))
    }
}

impl Real for f64 {
    fn plus(self, number: f64) -> Self {
        self + number
    }
    fn times(self, number: f64) -> Self {
        self * number
    }
    fn inverse(self) -> Self {
        self.recip()
    }
    fn root(self) -> Self {
        self.sqrt()
    }
    fn log(self) -> Self {
        self.ln()
    }
    fn log1p(self) -> Self {
        self.ln_1p()
    }
    fn single(&self) -> bool {
        false
    }
}

impl<const D: usize> Real for Tensor<D> {
    fn plus(self, number: f64) -> Self {
        self + number
    }
    fn times(self, number: f64) -> Self {
        self * number
    }
    fn inverse(self) -> Self {
        self.recip()
    }
    fn root(self) -> Self {
        self.sqrt()
    }
    fn log(self) -> Self {
        Tensor::log(self)
    }
    fn log1p(self) -> Self {
        Tensor::log1p(self)
    }
    fn single(&self) -> bool {
        is_single(self)
    }
}
