//! The exponential distribution.

use burn_tensor::Tensor;

use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;
use super::{draw, positive};

/// The exponential distribution.
///
/// ```text
/// log p(x) = log rate − rate x,   x ≥ 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `rate` | rate, the inverse of the mean | number or `Tensor<D>` | positive |
///
/// Support: x ≥ 0; the log density is −∞ below.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Exponential_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Exponential;
///
/// let x = sgmcmc::array(vec![0.5], [1])?;
/// let log_prob: Vec<f64> = Exponential::new(2.0).log_prob(x).into_data().iter::<f64>().collect();
/// // log 2 − 1
/// assert!((log_prob[0] + 0.3068528).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exponential<const D: usize> {
    rate: Param<D>,
}

impl<const D: usize> Exponential<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `rate` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(rate: impl Into<Param<D>>) -> Self {
        Self { rate: rate.into().positive("Exponential", "rate") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("Exponential", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        within(value, outside, 0.0, |x| x.times(&self.rate).neg().plus(&self.rate.log()))
    }
}

elementwise!(Exponential { rate }, |[rate], rng| draw(rand_distr::Exp::new(positive(rate)), rng), mean: |[rate]| 1.0 / rate);
