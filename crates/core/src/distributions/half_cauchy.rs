//! The distribution of |x|, where x is Cauchy with location zero.

use std::f64::consts::FRAC_PI_2;

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;
use crate::special::log1p_square;

/// The distribution of |x|, where x is Cauchy with location zero.
///
/// ```text
/// log p(x) = −log(1 + (x/scale)²) − log scale + log(2/π),   x ≥ 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `scale` | median | positive |
///
/// Support: x ≥ 0; −∞ below.
#[derive(Clone, Debug)]
pub struct HalfCauchy<const D: usize> {
    scale: Param<D>,
}

impl<const D: usize> HalfCauchy<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(scale: impl Into<Param<D>>) -> Self {
        Self { scale: scale.into().positive("HalfCauchy", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("HalfCauchy", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            log1p_square(x.over(&self.scale)).neg().minus(&(self.scale.log() + FRAC_PI_2.ln()))
        })
    }
}

elementwise!(HalfCauchy { scale }, |[scale], rng| draw(rand_distr::Cauchy::new(0.0, scale), rng).abs());
