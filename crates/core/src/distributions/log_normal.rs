//! The distribution of exp(x), where x is normal.

use burn_tensor::Tensor;

use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;
use super::{draw, positive};
use crate::special::HALF_LOG_TWO_PI;

/// The distribution of exp(x), where x is normal.
///
/// ```text
/// log p(x) = −z²/2 − log x − log scale − ½ log 2π,   z = (log x − loc)/scale,   x > 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `loc` | mean of log x | any real |
/// | `scale` | standard deviation of log x | positive |
///
/// Support: x > 0; −∞ at and below zero.
#[derive(Clone, Debug)]
pub struct LogNormal<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> LogNormal<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("LogNormal", "loc"), scale: scale.into().positive("LogNormal", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("LogNormal", &value, Support::Positive);
        let outside = value.clone().lower_equal_elem(0.0);
        within(value, outside, 1.0, |x| {
            let log = x.log();
            let z = log.clone().minus(&self.loc).over(&self.scale);
            (z.square() * -0.5 - log).minus(&(self.scale.log() + HALF_LOG_TWO_PI))
        })
    }
}

elementwise!(LogNormal { loc, scale }, |[loc, scale], rng| draw(rand_distr::LogNormal::new(loc, positive(scale)), rng));
