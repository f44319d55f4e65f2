//! The Laplace (double exponential) distribution.

use std::f64::consts::LN_2;

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::Open01;

use super::cumulative::{Cumulative, draws_between};
use super::param::{Combine, Param};
use super::{draw, positive};
use crate::special::log1mexp;

/// The Laplace (double exponential) distribution.
///
/// ```text
/// log p(x) = −|x − loc|/scale − log(2 scale)
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean and median | number or `Tensor<D>` | any real |
/// | `scale` | scale, the standard deviation divided by √2 | number or `Tensor<D>` | positive |
///
/// Support: all reals. The gradient at x = loc is defined as zero.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Laplace_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Laplace;
///
/// let x = sgmcmc::array(vec![3.0], [1])?;
/// let log_prob: Vec<f64> = Laplace::new(1.0, 2.0).log_prob(x).into_data().iter::<f64>().collect();
/// // −1 − log 4
/// assert!((log_prob[0] + 2.3862944).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Laplace<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Laplace<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `scale` is a number that is not positive and finite.
    /// Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Laplace", "loc"), scale: scale.into().positive("Laplace", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        z.abs().neg().minus(&(self.scale.log() + LN_2))
    }
}

elementwise!(Laplace { loc, scale }, |[loc, scale], rng| {
    let size = draw(rand_distr::Exp::new(positive(scale).recip()), rng);
    if rng.random() { loc + size } else { loc - size }
}, mean: |[loc, _]| loc);

impl<const D: usize> Cumulative<D> for Laplace<D> {
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D> {
        log_cdf(value.minus(&self.loc).over(&self.scale))
    }

    fn log_survival(&self, value: Tensor<D>) -> Tensor<D> {
        log_cdf(value.minus(&self.loc).over(&self.scale).neg())
    }

    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        draws_between([&self.loc, &self.scale], [low, high], shape, rng, |[loc, scale], bounds, rng| {
            let scale = positive(scale);
            let [low, high] = bounds.map(|bound| (bound - loc) / scale);
            // The inverse distribution function is accurate below the median.
            let u: f64 = rng.sample(Open01);
            let z = if low > 0.0 { -inverse_between(-high, -low, u) } else { inverse_between(low, high, u) };
            loc + scale * z
        })
    }
}

/// Returns the logarithm of the standard distribution function.
fn log_cdf<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    let log_tail = z.clone().abs().neg() - LN_2;
    log1mexp(log_tail.clone()).mask_where(z.lower_elem(0.0), log_tail)
}

/// Returns the quantile `u` of the standard Laplace distribution between `low` and `high`.
fn inverse_between(low: f64, high: f64, u: f64) -> f64 {
    // Relative to the mass below `low` or zero, so that intervals far in the tail do not underflow.
    let shift = high.min(0.0);
    let cdf = |z: f64| if z < 0.0 { 0.5 * (z - shift).exp() } else { 1.0 - 0.5 * (-z).exp() };
    let (low, high) = (cdf(low), cdf(high));
    let p = low + u * (high - low);
    if p < 0.5 { (2.0 * p).ln() + shift } else { -(2.0 * (1.0 - p)).ln() + shift }
}
