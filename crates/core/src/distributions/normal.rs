//! The normal distribution.

use burn_tensor::Tensor;

use super::param::{Combine, Param};
use super::{draw, positive};
use crate::special::HALF_LOG_TWO_PI;

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
