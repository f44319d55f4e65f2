//! The Poisson distribution, by the logarithm of its rate.

use burn_tensor::Tensor;

use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::poisson::draw_poisson;
use super::support::within;
use crate::special::{HALF_LOG_TWO_PI, stirling};

/// The Poisson distribution, by the logarithm of its rate.
///
/// ```text
/// log p(x) = x log_rate − exp(log_rate) − lgamma(x + 1),   x = 0, 1, …
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `log_rate` | logarithm of the mean | any real |
///
/// Support: whole numbers from 0; −∞ below.
#[derive(Clone, Debug)]
pub struct PoissonLogRate<const D: usize> {
    log_rate: Param<D>,
}

impl<const D: usize> PoissonLogRate<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(log_rate: impl Into<Param<D>>) -> Self {
        Self { log_rate: log_rate.into().finite("PoissonLogRate", "log_rate") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("PoissonLogRate", &value, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            let (s, correction) = stirling(x.clone() + 1.0);
            let log_s = s.clone().log();
            let large = x * log_s.clone().neg().plus(&self.log_rate) + s.minus(&self.log_rate.exp());
            large - (log_s * 0.5 + correction + HALF_LOG_TWO_PI)
        })
    }
}

elementwise!(PoissonLogRate { log_rate }, |[log_rate], rng| draw_poisson(log_rate.exp(), rng));
