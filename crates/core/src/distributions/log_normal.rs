//! The log-normal distribution.

use burn_tensor::Tensor;
use rand::Rng;

use super::cumulative::{Cumulative, draws_between};
use super::normal::draw_between;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::{minus_infinity, within};
use super::{draw, positive};
use crate::special::{HALF_LOG_TWO_PI, normal_log_cdf};

/// The log-normal distribution: the distribution of exp(z) for a normal variable z.
///
/// ```text
/// log p(x) = −z²/2 − log x − log scale − ½ log 2π,   z = (log x − loc)/scale,   x > 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean of log x | number or `Tensor<D>` | any real |
/// | `scale` | standard deviation of log x | number or `Tensor<D>` | positive |
///
/// Support: x > 0; the log density is −∞ at and below zero.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Log-normal_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::LogNormal;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = LogNormal::new(0.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // −½ log 2π
/// assert!((log_prob[0] + 0.9189385).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogNormal<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> LogNormal<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `scale` is a number that is not positive and finite.
    /// Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("LogNormal", "loc"), scale: scale.into().positive("LogNormal", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("LogNormal", &value, Support::Positive);
        let outside = value.clone().lower_equal_elem(0.0);
        within(value, outside, 1.0, |x| {
            let log = x.log();
            let z = log.clone().minus(&self.loc).over(&self.scale);
            (z.square() * -0.5 - log).minus(&(self.scale.log() + HALF_LOG_TWO_PI))
        })
    }
}

elementwise!(LogNormal { loc, scale }, |[loc, scale], rng| draw(rand_distr::LogNormal::new(loc, positive(scale)), rng), mean: |[loc, scale]| (loc + 0.5 * scale * scale).exp());

impl<const D: usize> LogNormal<D> {
    /// Returns the standardized logarithm of positive values, and one for others.
    fn standardized(&self, value: Tensor<D>) -> Tensor<D> {
        let outside = value.clone().lower_equal_elem(0.0);
        value.mask_fill(outside, 1.0).log().minus(&self.loc).over(&self.scale)
    }
}

impl<const D: usize> Cumulative<D> for LogNormal<D> {
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D> {
        let outside = value.clone().lower_equal_elem(0.0);
        minus_infinity(normal_log_cdf(self.standardized(value)), outside)
    }

    fn log_survival(&self, value: Tensor<D>) -> Tensor<D> {
        let outside = value.clone().lower_equal_elem(0.0);
        let log = normal_log_cdf(self.standardized(value).neg());
        let dims = log.dims();
        log.mask_fill(outside.expand(dims), 0.0)
    }

    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        draws_between([&self.loc, &self.scale], [low, high], shape, rng, |[loc, scale], bounds, rng| {
            let scale = positive(scale);
            let [low, high] = bounds.map(|bound| (bound.max(0.0).ln() - loc) / scale);
            if low < high { (loc + scale * draw_between(low, high, rng)).exp() } else { f64::NAN }
        })
    }
}
