//! The half-Cauchy distribution.

use std::f64::consts::FRAC_PI_2;

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;
use crate::special::log1p_square;

/// The half-Cauchy distribution: the distribution of |x| for a Cauchy variable x with location zero.
///
/// ```text
/// log p(x) = −log(1 + (x/scale)²) − log scale + log(2/π),   x ≥ 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `scale` | scale, the median | number or `Tensor<D>` | positive |
///
/// Support: x ≥ 0; the log density is −∞ below.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Cauchy_distribution#Related_distributions).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::HalfCauchy;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = HalfCauchy::new(1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // −log 2 + log(2/π) = −log π
/// assert!((log_prob[0] + 1.1447299).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HalfCauchy<const D: usize> {
    scale: Param<D>,
}

impl<const D: usize> HalfCauchy<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `scale` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(scale: impl Into<Param<D>>) -> Self {
        Self { scale: scale.into().positive("HalfCauchy", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("HalfCauchy", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| {
            log1p_square(x.over(&self.scale)).neg().minus(&(self.scale.log() + FRAC_PI_2.ln()))
        })
    }
}

elementwise!(HalfCauchy { scale }, |[scale], rng| draw(rand_distr::Cauchy::new(0.0, scale), rng).abs());
