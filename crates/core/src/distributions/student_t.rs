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
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `df` | degrees of freedom | number or `Tensor<D>` | positive |
/// | `loc` | location, the mean for df > 1 | number or `Tensor<D>` | any real |
/// | `scale` | scale | number or `Tensor<D>` | positive |
///
/// Support: all reals.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Student%27s_t-distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::StudentT;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = StudentT::new(1.0, 0.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // The Cauchy density: −log 2π.
/// assert!((log_prob[0] + 1.8378771).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StudentT<const D: usize> {
    df: Param<D>,
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> StudentT<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `df` or `scale` is a number that is not positive and finite, or if `loc` is a number that is not
    /// finite. Tensors are not checked.
    pub fn new(df: impl Into<Param<D>>, loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self {
            df: df.into().positive("StudentT", "df"),
            loc: loc.into().finite("StudentT", "loc"),
            scale: scale.into().positive("StudentT", "scale"),
        }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let constant =
            (self.df.clone() * 0.5).lgamma_half_step() - (self.df.clone() * PI).log() * 0.5 - self.scale.log();
        let z = value.minus(&self.loc).over(&(self.scale.clone() * self.df.sqrt()));
        log1p_square(z).times(&((self.df.clone() + 1.0) * -0.5)).plus(&constant)
    }
}

elementwise!(StudentT { df, loc, scale }, |[df, loc, scale], rng| {
    loc + positive(scale) * draw(rand_distr::StudentT::new(df), rng)
}, mean: |[df, loc, _]| if df > 1.0 { loc } else { f64::NAN });
