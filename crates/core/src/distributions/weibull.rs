//! The Weibull distribution.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::{power, within};

/// The Weibull distribution.
///
/// ```text
/// log p(x) = log shape − log scale + (shape − 1) log z − z^shape,   z = x/scale,   x ≥ 0
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `shape` | shape; hazards rise above one and fall below | positive |
/// | `scale` | scale, the 63.2 % quantile | positive |
///
/// Support: x ≥ 0; −∞ below. At zero it is +∞ for shapes below one and −∞ above, and the gradient of the term z^shape
/// is taken as zero.
#[derive(Clone, Debug)]
pub struct Weibull<const D: usize> {
    shape: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Weibull<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(shape: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { shape: shape.into().positive("Weibull", "shape"), scale: scale.into().positive("Weibull", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("Weibull", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        let constant = self.shape.log() - self.shape.clone() * self.scale.log();
        within(value, outside, 1.0, |x| {
            // Not the logarithm of x/scale: at x = 0 its gradient to the scale would be 0 · ∞.
            let exponent = self.shape.clone() - 1.0;
            (exponent.xlogy(x.clone()) - power(x.over(&self.scale), &self.shape)).plus(&constant)
        })
    }
}

elementwise!(Weibull { shape, scale }, |[shape, scale], rng| draw(rand_distr::Weibull::new(scale, shape), rng));
