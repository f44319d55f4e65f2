//! The inverse gamma distribution.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;

/// The inverse gamma distribution: the distribution of 1/g for a gamma variable g with the same shape and with rate
/// `scale`.
///
/// ```text
/// log p(x) = shape log scale − (shape + 1) log x − scale/x − lgamma(shape),   x > 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `shape` | shape | number or `Tensor<D>` | positive |
/// | `scale` | scale; the mean is scale/(shape − 1) for shape > 1 | number or `Tensor<D>` | positive |
///
/// Support: x > 0; the log density is −∞ at and below zero.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Inverse-gamma_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::InverseGamma;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = InverseGamma::new(2.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // All terms but −scale/x vanish.
/// assert!((log_prob[0] + 1.0).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct InverseGamma<const D: usize> {
    shape: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> InverseGamma<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `shape` or `scale` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(shape: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self {
            shape: shape.into().positive("InverseGamma", "shape"),
            scale: scale.into().positive("InverseGamma", "scale"),
        }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("InverseGamma", &value, Support::Positive);
        let outside = value.clone().lower_equal_elem(0.0);
        within(value, outside, 1.0, |x| {
            let z = x.over(&self.scale);
            let power = z.clone().log().times(&(self.shape.clone() + 1.0));
            (power + z.recip()).neg().minus(&(self.shape.lgamma() + self.scale.log()))
        })
    }
}

elementwise!(InverseGamma { shape, scale }, |[shape, scale], rng| draw(
    rand_distr::Gamma::new(shape, scale.recip()),
    rng
)
.recip(), mean: |[shape, scale]| if shape > 1.0 { scale / (shape - 1.0) } else { f64::INFINITY });
