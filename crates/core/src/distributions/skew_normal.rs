//! The skew-normal distribution.

use burn_tensor::Tensor;
use rand::RngExt;
use rand_distr::StandardNormal;

use super::param::{Combine, Param};
use super::positive;
use crate::special::normal_log_cdf;

/// The skew-normal distribution.
///
/// ```text
/// log p(x) = log 2 − log scale + log φ(z) + log Φ(shape·z),   z = (x − loc)/scale
/// φ, Φ: density and distribution function of the standard normal distribution
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | location | number or `Tensor<D>` | any real |
/// | `scale` | scale | number or `Tensor<D>` | positive |
/// | `shape` | skewness: to the right if positive, to the left if negative, normal if zero | number or `Tensor<D>` | any real |
///
/// Support: all real numbers. With δ = shape/√(1 + shape²), the mean is `loc` + `scale`·δ·√(2/π).
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Skew_normal_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Normal, SkewNormal};
///
/// let x = sgmcmc::array(vec![-0.3, 0.0, 2.0], [3])?;
/// let skewed = SkewNormal::new(0.0, 1.5, 0.0).log_prob(x.clone());
/// let normal = Normal::new(0.0, 1.5).log_prob(x);
/// assert!((skewed - normal).abs().max().into_scalar::<f64>() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SkewNormal<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
    shape: Param<D>,
}

impl<const D: usize> SkewNormal<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` or `shape` is a number that is not finite, or if `scale` is a number that is not positive and
    /// finite. Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>, shape: impl Into<Param<D>>) -> Self {
        Self {
            loc: loc.into().finite("SkewNormal", "loc"),
            scale: scale.into().positive("SkewNormal", "scale"),
            shape: shape.into().finite("SkewNormal", "shape"),
        }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        // log 2 − ½ log 2π
        let constant = std::f64::consts::LN_2 - 0.5 * std::f64::consts::TAU.ln();
        let z = value.minus(&self.loc).over(&self.scale);
        let log_cdf = normal_log_cdf(z.clone().times(&self.shape));
        (log_cdf + constant - z.square() * 0.5).minus(&self.scale.log())
    }
}

elementwise!(SkewNormal { loc, scale, shape }, |[loc, scale, shape], rng| {
    let delta = shape / shape.hypot(1.0);
    let (u, v): (f64, f64) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
    loc + positive(scale) * (delta * u.abs() + v / shape.hypot(1.0))
});
