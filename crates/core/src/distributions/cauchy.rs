//! The Cauchy distribution.

use std::f64::consts::PI;

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::Open01;

use super::cumulative::{Cumulative, draws_between};
use super::param::{Combine, Param};
use super::{draw, positive};
use crate::special::log1p_square;

/// The Cauchy distribution.
///
/// ```text
/// log p(x) = −log(1 + z²) − log(π scale),   z = (x − loc)/scale
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | median | number or `Tensor<D>` | any real |
/// | `scale` | half width at half maximum | number or `Tensor<D>` | positive |
///
/// Support: all reals.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Cauchy_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Cauchy;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = Cauchy::new(0.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // −log 2 − log π
/// assert!((log_prob[0] + 1.8378771).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cauchy<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Cauchy<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `scale` is a number that is not positive and finite.
    /// Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Cauchy", "loc"), scale: scale.into().positive("Cauchy", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        log1p_square(z).neg().minus(&(self.scale.log() + PI.ln()))
    }
}

elementwise!(Cauchy { loc, scale }, |[loc, scale], rng| draw(rand_distr::Cauchy::new(loc, scale), rng));

impl<const D: usize> Cumulative<D> for Cauchy<D> {
    fn log_cdf(&self, value: Tensor<D>) -> Tensor<D> {
        log_cdf(value.minus(&self.loc).over(&self.scale))
    }

    fn log_survival(&self, value: Tensor<D>) -> Tensor<D> {
        log_cdf(value.minus(&self.loc).over(&self.scale).neg())
    }

    fn sample_between(&self, low: &Param<D>, high: &Param<D>, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        draws_between([&self.loc, &self.scale], [low, high], shape, rng, |[loc, scale], bounds, rng| {
            let scale = positive(scale);
            // The angles of the bounds, from 0 at −∞ to π at ∞, are accurate in the lower tail.
            let u: f64 = rng.sample(Open01);
            let [low, high] = bounds.map(|bound| (bound - loc) / scale);
            let between = |low: f64, high: f64| {
                let [low, high] = [low, high].map(|z| 1.0_f64.atan2(-z));
                -(low + u * (high - low)).tan().recip()
            };
            let z = if low > 0.0 { -between(-high, -low) } else { between(low, high) };
            loc + scale * z
        })
    }
}

/// Returns the logarithm of the standard distribution function ½ + arctan(z)/π, without cancellation in the lower tail.
fn log_cdf<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    z.ones_like().atan2(z.neg()).log() - PI.ln()
}
