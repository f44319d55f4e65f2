//! The exponential distribution.

use burn_tensor::Tensor;

use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;
use super::{draw, positive};

/// The exponential distribution.
///
/// ```text
/// log p(x) = log rate − rate x,   x ≥ 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `rate` | rate, the inverse of the mean | positive |
///
/// Support: x ≥ 0; −∞ below.
#[derive(Clone, Debug)]
pub struct Exponential<const D: usize> {
    rate: Param<D>,
}

impl<const D: usize> Exponential<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(rate: impl Into<Param<D>>) -> Self {
        Self { rate: rate.into().positive("Exponential", "rate") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("Exponential", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| x.times(&self.rate).neg().plus(&self.rate.log()))
    }
}

elementwise!(Exponential { rate }, |[rate], rng| draw(rand_distr::Exp::new(positive(rate)), rng));
