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
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `loc` | mean and median | number or `Tensor<D>` | any real |
/// | `scale` | scale, the standard deviation divided by √2 | number or `Tensor<D>` | positive |
///
/// Support: all reals. The gradient at x = loc is defined as zero.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Laplace_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Laplace;
///
/// let x = sgmcmc::array(vec![3.0], [1])?;
/// let log_prob: Vec<f64> = Laplace::new(1.0, 2.0).log_prob(x).into_data().iter::<f64>().collect();
/// // −1 − log 4
/// assert!((log_prob[0] + 2.3862944).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Laplace<const D: usize> {
    loc: Param<D>,
    scale: Param<D>,
}

impl<const D: usize> Laplace<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `loc` is a number that is not finite, or if `scale` is a number that is not positive and finite.
    /// Tensors are not checked.
    pub fn new(loc: impl Into<Param<D>>, scale: impl Into<Param<D>>) -> Self {
        Self { loc: loc.into().finite("Laplace", "loc"), scale: scale.into().positive("Laplace", "scale") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let z = value.minus(&self.loc).over(&self.scale);
        z.abs().neg().minus(&(self.scale.log() + LN_2))
    }
}

elementwise!(Laplace { loc, scale }, |[loc, scale], rng| {
    let size = draw(rand_distr::Exp::new(positive(scale).recip()), rng);
    if rng.random() { loc + size } else { loc - size }
}, mean: |[loc, _]| loc);
