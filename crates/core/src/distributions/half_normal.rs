//! The half-normal distribution.

use std::f64::consts::LN_2;

use burn_tensor::Tensor;

use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;
use super::{draw, positive};
use crate::special::HALF_LOG_TWO_PI;

/// The half-normal distribution: the distribution of |x| for a normal variable x with mean zero.
///
/// ```text
/// log p(x) = −(x/scale)²/2 − log scale + ½ log(2/π),   x ≥ 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `scale` | standard deviation of the normal variable | number or `Tensor<D>` | positive |
///
/// Support: x ≥ 0; the log density is −∞ below.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Half-normal_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::HalfNormal;
///
/// let x = sgmcmc::array(vec![0.0], [1])?;
/// let log_prob: Vec<f64> = HalfNormal::new(1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // ½ log(2/π)
/// assert!((log_prob[0] + 0.2257914).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HalfNormal<const D: usize> {
    scale: Param<D>,
}

impl<const D: usize> HalfNormal<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `scale` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(scale: impl Into<Param<D>>) -> Self {
        Self { scale: scale.into().positive("HalfNormal", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("HalfNormal", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            (x.over(&self.scale).square() * -0.5).minus(&(self.scale.log() + (HALF_LOG_TWO_PI - LN_2)))
        })
    }
}

elementwise!(HalfNormal { scale }, |[scale], rng| draw(rand_distr::Normal::new(0.0, positive(scale)), rng).abs(), mean: |[scale]| scale * (2.0 / std::f64::consts::PI).sqrt());
