//! The Laplace (double exponential) distribution.

use std::f64::consts::LN_2;

use burn_tensor::Tensor;
use rand::RngExt;

use super::param::{Combine, Param};
use super::{draw, positive};

/// The Laplace (double exponential) distribution.
///
/// ```text
/// log p(x) = −|x − loc|/scale − log(2 scale)
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `loc` | mean and median | any real |
/// | `scale` | scale, the standard deviation over √2 | positive |
///
/// Support: all reals. The gradient at the kink x = loc is zero.
#[derive(Clone, Debug)]
pub struct Laplace<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Laplace<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Laplace", "loc"), scale: scale.into().positive("Laplace", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        z.abs().neg().minus(&(self.scale.log() + LN_2))
    }
}

elementwise!(Laplace { loc, scale }, |[loc, scale], rng| {
    let size = draw(rand_distr::Exp::new(positive(scale).recip()), rng);
    if rng.random() { loc + size } else { loc - size }
});
