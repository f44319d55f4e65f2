//! The generalized gamma distribution.

use burn_tensor::Tensor;

use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::{power, within};
use super::{draw, positive};

/// The generalized gamma distribution.
///
/// ```text
/// log p(x) = log power − log scale + (shape power − 1) log z − z^power − lgamma(shape)
/// z = x/scale,   x ≥ 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `shape` | shape, `a` of SciPy's `gengamma` | number or `Tensor<D>` | positive |
/// | `power` | power, `c` of SciPy's `gengamma` | number or `Tensor<D>` | positive |
/// | `scale` | scale | number or `Tensor<D>` | positive |
///
/// Support: x ≥ 0; the log density is −∞ below.
///
/// It is the distribution of scale · g^(1/power) for a gamma variable g with this shape and rate one. Special cases are
/// the gamma distribution (power = 1), the Weibull distribution (shape = 1) and the half-normal distribution (shape =
/// ½, power = 2, scale = √2 σ). At x = 0 the gradient of the term z^power is defined as zero.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Generalized_gamma_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::GeneralizedGamma;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = GeneralizedGamma::new(1.0, 2.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // log 2 − 1
/// assert!((log_prob[0] + 0.3068528).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GeneralizedGamma<const D: usize> {
    shape: Param<D>,
    power: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> GeneralizedGamma<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `shape`, `power` or `scale` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(shape: impl Into<Param<D>>, power: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self {
            shape: shape.into().positive("GeneralizedGamma", "shape"),
            power: power.into().positive("GeneralizedGamma", "power"),
            scale: scale.into().positive("GeneralizedGamma", "scale"),
        }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("GeneralizedGamma", &value, Support::NotNegative);
        let degree = self.shape.clone() * self.power.clone();
        let constant = self.power.log() - degree.clone() * self.scale.log() - self.shape.lgamma();
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 1.0, |x| {
            // The logarithm is of x, not of x/scale, whose gradient with respect to the scale would be 0 · ∞ at x = 0.
            ((degree - 1.0).xlogy(x.clone()) - power(x.over(&self.scale), &self.power)).plus(&constant)
        })
    }
}

elementwise!(GeneralizedGamma { shape, power, scale }, |[shape, power, scale], rng| {
    positive(scale) * draw(rand_distr::Gamma::new(shape, 1.0), rng).powf(positive(power).recip())
});
