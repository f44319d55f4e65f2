//! The exponential distribution.

use burn_tensor::Tensor;
use rand::{Rng, RngExt};

use super::cumulative::{Cumulative, draws_between};
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::{minus_infinity, within};
use super::{draw, positive};
use crate::special::log1mexp;

/// The exponential distribution.
///
/// ```text
/// log p(x) = log rate − rate x,   x ≥ 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `rate` | rate, the inverse of the mean | number or `Tensor<D>` | positive |
///
/// Support: x ≥ 0; the log density is −∞ below.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Exponential_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Exponential;
///
/// let x = sgmcmc::array(vec![0.5], [1])?;
/// let log_prob: Vec<f64> = Exponential::new(2.0).log_prob(x).into_data().iter::<f64>().collect();
/// // log 2 − 1
/// assert!((log_prob[0] + 0.3068528).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exponential<const D: usize> {
    rate: Param<D>,
}

impl<const D: usize> Exponential<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `rate` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(rate: impl Into<Param<D>>) -> Self {
        Self { rate: rate.into().positive("Exponential", "rate") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("Exponential", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| x.times(&self.rate).neg().plus(&self.rate.log()))
    }
}

elementwise!(Exponential { rate }, |[rate], rng| draw(rand_distr::Exp::new(positive(rate)), rng), mean: |[rate]| 1.0 / rate);

impl<const D: usize> Cumulative<D> for Exponential<D> {
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D> {
        let outside = value.clone().lower_equal_elem(0.0);
        let inside = value.mask_fill(outside.clone(), 1.0);
        minus_infinity(log1mexp(inside.times(&self.rate).neg()), outside)
    }

    fn log_survival(&self, value: Tensor<D>) -> Tensor<D> {
        value.clamp_min(0.0).times(&self.rate).neg()
    }

    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        draws_between([&self.rate], [low, high], shape, rng, |[rate], [low, high], rng| {
            let rate = positive(rate);
            draw_between(low * rate, high * rate, rng) / rate
        })
    }
}

/// Draws from the standard exponential distribution between `low` and `high`. Returns NaN if no positive number is
/// between them.
pub(super) fn draw_between<R: Rng + ?Sized>(low: f64, high: f64, rng: &mut R) -> f64 {
    let low = low.max(0.0);
    if low < high { low - (rng.random::<f64>() * (low - high).exp_m1()).ln_1p() } else { f64::NAN }
}
