//! The Poisson distribution, by its rate.

use burn_tensor::Tensor;
use rand::Rng;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;
use crate::special::{HALF_LOG_TWO_PI, stirling, xlogy};

/// The Poisson distribution, by its rate.
///
/// ```text
/// log p(x) = x log rate − rate − lgamma(x + 1),   x = 0, 1, …
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `rate` | mean | not negative |
///
/// Support: whole numbers from 0; −∞ below. With s and c from Stirling's form of the last term it is computed as
/// x log(rate/s) + (s − rate) − ½ log 2πs − c, where large terms do not cancel.
#[derive(Clone, Debug)]
pub struct Poisson<const D: usize> {
    rate: Param<D>,
}

impl<const D: usize> Poisson<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(rate: impl Into<Param<D>>) -> Self {
        Self { rate: rate.into().checked(|r| r >= 0.0 && r.is_finite(), "Poisson", "rate", "finite and not negative") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("Poisson", &value, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            let (s, correction) = stirling(x.clone() + 1.0);
            let ratio = s.clone().recip().times(&self.rate);
            let large = match self.rate {
                Param::Number(rate) if rate > 0.0 => x * ratio.log(),
                _ => xlogy(x, ratio),
            };
            large + s.clone().minus(&self.rate) - (s.log() * 0.5 + correction + HALF_LOG_TWO_PI)
        })
    }
}

elementwise!(Poisson { rate }, |[rate], rng| draw_poisson(rate, rng));

/// A Poisson count. `rand_distr` has none for rate zero.
pub(super) fn draw_poisson<R: Rng + ?Sized>(rate: f64, rng: &mut R) -> f64 {
    if rate == 0.0 { 0.0 } else { draw(rand_distr::Poisson::new(rate), rng) }
}
