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
/// | parameter | meaning | range |
/// |---|---|---|
/// | `loc` | mean | any real |
/// | `scale` | standard deviation | positive |
///
/// Support: all reals.
///
/// ```
/// use sgmcmc_core::distributions::Normal;
///
/// let y = sgmcmc_core::array(vec![0.0, 2.0], [2])?;
/// let log_prob = Normal::new(1.0, 0.5).log_prob(y);
/// assert!((log_prob.into_data().iter::<f64>().sum::<f64>() + 4.4515830).abs() < 1e-6);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Normal<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Normal<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Normal", "loc"), scale: scale.into().positive("Normal", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        (z.square() * -0.5).minus(&(self.scale.log() + HALF_LOG_TWO_PI))
    }
}

elementwise!(Normal { loc, scale }, |[loc, scale], rng| draw(rand_distr::Normal::new(loc, positive(scale)), rng));
