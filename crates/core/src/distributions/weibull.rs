//! The Weibull distribution.

use burn_tensor::Tensor;
use rand::Rng;

use super::cumulative::{Cumulative, draws_between};
use super::exponential::draw_between;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::{minus_infinity, power, within};
use super::{draw, positive};
use crate::special::log1mexp;

/// The Weibull distribution.
///
/// ```text
/// log p(x) = log shape − log scale + (shape − 1) log z − z^shape,   z = x/scale,   x ≥ 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `shape` | shape; the hazard rate increases above one and decreases below | number or `Tensor<D>` | positive |
/// | `scale` | scale, the 63.2 % quantile | number or `Tensor<D>` | positive |
///
/// Support: x ≥ 0; the log density is −∞ below. At x = 0 it is +∞ for shape < 1 and −∞ for shape > 1, and the gradient
/// of the term z^shape is defined as zero.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Weibull_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Weibull;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = Weibull::new(2.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // log 2 − 1
/// assert!((log_prob[0] + 0.3068528).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Weibull<const D: usize> {
    shape: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Weibull<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `shape` or `scale` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(shape: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { shape: shape.into().positive("Weibull", "shape"), scale: scale.into().positive("Weibull", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("Weibull", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        let constant = self.shape.log() - self.shape.clone() * self.scale.log();
        within(value, outside, 1.0, |x| {
            // The logarithm is of x, not of x/scale, whose gradient with respect to the scale would be 0 · ∞ at x = 0.
            let exponent = self.shape.clone() - 1.0;
            (exponent.xlogy(x.clone()) - power(x.over(&self.scale), &self.shape)).plus(&constant)
        })
    }
}

elementwise!(Weibull { shape, scale }, |[shape, scale], rng| draw(rand_distr::Weibull::new(scale, shape), rng));

impl<const D: usize> Cumulative<D> for Weibull<D> {
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D> {
        let outside = value.clone().lower_equal_elem(0.0);
        let inside = value.mask_fill(outside.clone(), 1.0);
        minus_infinity(log1mexp(power(inside.over(&self.scale), &self.shape).neg()), outside)
    }

    fn log_survival(&self, value: Tensor<D>) -> Tensor<D> {
        power(value.clamp_min(0.0).over(&self.scale), &self.shape).neg()
    }

    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        draws_between([&self.shape, &self.scale], [low, high], shape, rng, |[shape, scale], bounds, rng| {
            let (shape, scale) = (positive(shape), positive(scale));
            let [low, high] = bounds.map(|bound| (bound.max(0.0) / scale).powf(shape));
            scale * draw_between(low, high, rng).powf(shape.recip())
        })
    }
}
