//! The Poisson distribution, parameterized by its rate.

use burn_tensor::Tensor;
use rand::Rng;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;
use crate::special::{HALF_LOG_TWO_PI, stirling, xlogy};

/// The Poisson distribution, parameterized by its rate.
///
/// ```text
/// log p(x) = x log rate − rate − lgamma(x + 1),   x = 0, 1, …
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `rate` | rate, the mean | number or `Tensor<D>` | not negative |
///
/// Support: whole numbers from 0; the log probability is −∞ below. It is computed from Stirling's formula for the last
/// term, as x log(rate/s) + (s − rate) − ½ log 2πs − c, in which no large terms cancel.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Poisson_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Poisson;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = Poisson::new(2.0).log_prob(x).into_data().iter::<f64>().collect();
/// // log 2 − 2
/// assert!((log_prob[0] + 1.3068528).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Poisson<const D: usize> {
    rate: Param<D>,
}

impl<const D: usize> Poisson<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `rate` is a number that is negative or not finite. Tensors are not checked.
    pub fn new(rate: impl Into<Param<D>>) -> Self {
        Self { rate: rate.into().checked(|r| r >= 0.0 && r.is_finite(), "Poisson", "rate", "finite and not negative") }
    }

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("Poisson", &value, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            let (s, correction) = stirling(x.clone() + 1.0);
            let ratio = s.clone().recip().times(&self.rate);
            let power = match self.rate {
                Param::Number(rate) if rate > 0.0 => x * ratio.log(),
                _ => xlogy(x, ratio),
            };
            power + s.clone().minus(&self.rate) - (s.log() * 0.5 + correction + HALF_LOG_TWO_PI)
        })
    }
}

elementwise!(Poisson { rate }, |[rate], rng| draw_poisson(rate, rng), mean: |[rate]| rate);

/// Draws a Poisson count. The distribution of `rand_distr` does not allow the rate zero.
pub(super) fn draw_poisson<R: Rng + ?Sized>(rate: f64, rng: &mut R) -> f64 {
    if rate == 0.0 { 0.0 } else { draw(rand_distr::Poisson::new(rate), rng) }
}
