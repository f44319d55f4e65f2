//! The normal distribution.

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::{Exp1, StandardNormal};

use super::cumulative::{Cumulative, draws_between};
use super::param::{Combine, Param};
use super::{draw, positive};
use crate::special::{HALF_LOG_TWO_PI, normal_log_cdf};

/// The normal distribution.
///
/// ```text
/// log p(x) = −z²/2 − log scale − ½ log 2π,   z = (x − loc)/scale
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean | number or `Tensor<D>` | any real |
/// | `scale` | standard deviation | number or `Tensor<D>` | positive |
///
/// Support: all reals.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Normal_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Normal;
///
/// let x = sgmcmc::array(vec![2.0], [1])?;
/// let log_prob: Vec<f64> = Normal::new(1.0, 0.5).log_prob(x).into_data().iter::<f64>().collect();
/// // z = 2: −2 + log 2 − ½ log 2π.
/// assert!((log_prob[0] + 2.2257914).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Normal<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Normal<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `scale` is a number that is not positive and finite.
    /// Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Normal", "loc"), scale: scale.into().positive("Normal", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        (z.square() * -0.5).minus(&(self.scale.log() + HALF_LOG_TWO_PI))
    }
}

elementwise!(Normal { loc, scale }, |[loc, scale], rng| draw(rand_distr::Normal::new(loc, positive(scale)), rng), mean: |[loc, _]| loc);

impl<const D: usize> Cumulative<D> for Normal<D> {
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D> {
        normal_log_cdf(value.minus(&self.loc).over(&self.scale))
    }

    fn log_survival(&self, value: Tensor<D>) -> Tensor<D> {
        normal_log_cdf(value.minus(&self.loc).over(&self.scale).neg())
    }

    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        draws_between([&self.loc, &self.scale], [low, high], shape, rng, |[loc, scale], [low, high], rng| {
            let scale = positive(scale);
            loc + scale * draw_between((low - loc) / scale, (high - loc) / scale, rng)
        })
    }
}

/// Draws from the standard normal distribution between `low` and `high`, by rejection: Robert (1995). Returns NaN if a
/// bound is NaN.
pub(super) fn draw_between<R: Rng + ?Sized>(low: f64, high: f64, rng: &mut R) -> f64 {
    if low.is_nan() || high.is_nan() {
        return f64::NAN;
    }
    if high <= 0.0 {
        return -draw_between(-high, -low, rng);
    }
    if low <= 0.0 {
        // The interval contains the mode.
        let wide = high - low > 2.5;
        loop {
            let x: f64 = if wide { rng.sample(StandardNormal) } else { low + (high - low) * rng.random::<f64>() };
            let accepted = if wide { (low..=high).contains(&x) } else { rng.random::<f64>() <= (-0.5 * x * x).exp() };
            if accepted {
                return x;
            }
        }
    }
    // In a tail, proposals are exponential with this rate, or uniform if the interval is short.
    let rate = 0.5 * (low + (low * low + 4.0).sqrt());
    let short = (high - low) * rate < (0.25 * (low * low - low * (low * low + 4.0).sqrt() + 2.0)).exp();
    loop {
        let u: f64 = rng.random();
        if short {
            let x = low + (high - low) * u;
            if rng.random::<f64>() <= (0.5 * (low - x) * (low + x)).exp() {
                return x;
            }
        } else {
            let x = low + rng.sample::<f64, _>(Exp1) / rate;
            if x <= high && u <= (-0.5 * (x - rate) * (x - rate)).exp() {
                return x;
            }
        }
    }
}
