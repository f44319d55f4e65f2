//! The inverse gamma distribution, that of 1/x where x is gamma with the same shape and with rate `scale`.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;

/// The inverse gamma distribution, that of 1/x where x is gamma with the same shape and with rate `scale`.
///
/// ```text
/// log p(x) = shape log scale − (shape + 1) log x − scale/x − lgamma(shape),   x > 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `shape` | shape | positive |
/// | `scale` | scale, mean × (shape − 1) | positive |
///
/// Support: x > 0; −∞ at and below zero.
#[derive(Clone, Debug)]
pub struct InverseGamma<const D: usize> {
    shape: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> InverseGamma<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(shape: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self {
            shape: shape.into().positive("InverseGamma", "shape"),
            scale: scale.into().positive("InverseGamma", "scale"),
        }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("InverseGamma", &value, Support::Positive);
        let outside = value.clone().lower_equal_elem(0.0);
        within(value, outside, 1.0, |x| {
            let z = x.over(&self.scale);
            let power = z.clone().log().times(&(self.shape.clone() + 1.0));
            (power + z.recip()).neg().minus(&(self.shape.lgamma() + self.scale.log()))
        })
    }
}

elementwise!(InverseGamma { shape, scale }, |[shape, scale], rng| draw(
    rand_distr::Gamma::new(shape, scale.recip()),
    rng
)
.recip());
