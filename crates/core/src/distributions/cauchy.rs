//! The Cauchy distribution.

use std::f64::consts::PI;

use burn_tensor::Tensor;

use super::draw;
use super::param::{Combine, Param};
use crate::special::log1p_square;

/// The Cauchy distribution.
///
/// ```text
/// log p(x) = −log(1 + z²) − log(π scale),   z = (x − loc)/scale
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `loc` | median | any real |
/// | `scale` | half the width at half the height | positive |
///
/// Support: all reals.
#[derive(Clone, Debug)]
pub struct Cauchy<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Cauchy<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Cauchy", "loc"), scale: scale.into().positive("Cauchy", "scale") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        log1p_square(z).neg().minus(&(self.scale.log() + PI.ln()))
    }
}

elementwise!(Cauchy { loc, scale }, |[loc, scale], rng| draw(rand_distr::Cauchy::new(loc, scale), rng));
