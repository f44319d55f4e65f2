//! The distribution of |x|, where x is normal with mean zero.

use std::f64::consts::LN_2;

use burn_tensor::Tensor;

use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;
use super::{draw, positive};
use crate::special::HALF_LOG_TWO_PI;

/// The distribution of |x|, where x is normal with mean zero.
///
/// ```text
/// log p(x) = −(x/scale)²/2 − log scale + ½ log(2/π),   x ≥ 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `scale` | standard deviation of the normal | positive |
///
/// Support: x ≥ 0; −∞ below.
#[derive(Clone, Debug)]
pub struct HalfNormal<const D: usize> {
    scale: Param<D>,
}

impl<const D: usize> HalfNormal<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(scale: impl Into<Param<D>>) -> Self {
        Self { scale: scale.into().positive("HalfNormal", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("HalfNormal", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            (x.over(&self.scale).square() * -0.5).minus(&(self.scale.log() + (HALF_LOG_TWO_PI - LN_2)))
        })
    }
}

elementwise!(HalfNormal { scale }, |[scale], rng| draw(rand_distr::Normal::new(0.0, positive(scale)), rng).abs());
