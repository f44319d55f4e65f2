//! The logistic distribution.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;
use rand::RngExt;
use rand_distr::Open01;

use super::param::{Combine, Param};
use super::positive;

/// The logistic distribution.
///
/// ```text
/// log p(x) = log σ(z) + log σ(−z) − log scale,   z = (x − loc)/scale,   σ(z) = 1/(1 + exp(−z))
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `loc` | mean and median | any real |
/// | `scale` | scale, the standard deviation times √3/π | positive |
///
/// Support: all reals.
#[derive(Clone, Debug)]
pub struct Logistic<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Logistic<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Logistic", "loc"), scale: scale.into().positive("Logistic", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        (log_sigmoid(z.clone()) + log_sigmoid(z.neg())).minus(&self.scale.log())
    }
}

elementwise!(Logistic { loc, scale }, |[loc, scale], rng| {
    let u: f64 = rng.sample(Open01);
    loc + positive(scale) * (u / (1.0 - u)).ln()
});
