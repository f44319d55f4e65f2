//! The generalized gamma distribution, that of scale · x^(1/power) where x is gamma with `shape` and rate one.

use burn_tensor::Tensor;

use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::{power, within};
use super::{draw, positive};

/// The generalized gamma distribution, that of scale · x^(1/power) where x is gamma with `shape` and rate one.
///
/// ```text
/// log p(x) = log power − log scale + (shape power − 1) log z − z^power − lgamma(shape)
/// z = x/scale,   x ≥ 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `shape` | shape `a` of SciPy's `gengamma` | positive |
/// | `power` | power `c` of SciPy's `gengamma` | positive |
/// | `scale` | scale | positive |
///
/// Support: x ≥ 0; −∞ below. Gamma at power one, Weibull at shape one, half-normal (scale √2 σ) at shape ½ and power
/// two. At zero the gradient of the term z^power is taken as zero.
#[derive(Clone, Debug)]
pub struct GeneralizedGamma<const D: usize> {
    shape: Param<D>,
    power: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> GeneralizedGamma<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(shape: impl Into<Param<D>>, power: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self {
            shape: shape.into().positive("GeneralizedGamma", "shape"),
            power: power.into().positive("GeneralizedGamma", "power"),
            scale: scale.into().positive("GeneralizedGamma", "scale"),
        }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("GeneralizedGamma", &value, Support::NotNegative);
        let degree = self.shape.clone() * self.power.clone();
        let constant = self.power.log() - degree.clone() * self.scale.log() - self.shape.lgamma();
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 1.0, |x| {
            // Not the logarithm of x/scale: at x = 0 its gradient to the scale would be 0 · ∞.
            ((degree - 1.0).xlogy(x.clone()) - power(x.over(&self.scale), &self.power)).plus(&constant)
        })
    }
}

elementwise!(GeneralizedGamma { shape, power, scale }, |[shape, power, scale], rng| {
    positive(scale) * draw(rand_distr::Gamma::new(shape, 1.0), rng).powf(positive(power).recip())
});
