//! Student's t distribution, with location and scale.

use std::f64::consts::PI;

use burn_tensor::Tensor;

use super::param::{Combine, Param};
use super::{draw, positive};
use crate::special::log1p_square;

/// Student's t distribution, with location and scale.
///
/// ```text
/// log p(x) = lgamma((df + 1)/2) − lgamma(df/2) − ½ log(π df) − log scale − (df + 1)/2 log(1 + z²/df)
/// z = (x − loc)/scale
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `df` | degrees of freedom | positive |
/// | `loc` | location, the mean where df > 1 | any real |
/// | `scale` | scale | positive |
///
/// Support: all reals.
#[derive(Clone, Debug)]
pub struct StudentT<const D: usize> {
    df: Param<D>,
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> StudentT<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(df: impl Into<Param<D>>, loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self {
            df: df.into().positive("StudentT", "df"),
            loc: loc.into().finite("StudentT", "loc"),
            scale: scale.into().positive("StudentT", "scale"),
        }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let constant =
            (self.df.clone() * 0.5).lgamma_half_step() - (self.df.clone() * PI).log() * 0.5 - self.scale.log();
        let z = value.minus(&self.loc).over(&(self.scale.clone() * self.df.sqrt()));
        log1p_square(z).times(&((self.df.clone() + 1.0) * -0.5)).plus(&constant)
    }
}

elementwise!(StudentT { df, loc, scale }, |[df, loc, scale], rng| {
    loc + positive(scale) * draw(rand_distr::StudentT::new(df), rng)
});
