//! The gamma distribution, parameterized by shape and rate.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;

/// The gamma distribution, parameterized by shape and rate.
///
/// ```text
/// log p(x) = shape log rate + (shape − 1) log x − rate x − lgamma(shape),   x ≥ 0
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `shape` | shape; the mean is shape/rate | number or `Tensor<D>` | positive |
/// | `rate` | rate, the inverse of the scale | number or `Tensor<D>` | positive |
///
/// Support: x ≥ 0; the log density is −∞ below. At x = 0 it is +∞ for shape < 1, log rate for shape = 1 and −∞ for
/// shape > 1.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Gamma_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Gamma;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = Gamma::new(2.0, 3.0).log_prob(x).into_data().iter::<f64>().collect();
/// // 2 log 3 − 3
/// assert!((log_prob[0] + 0.8027754).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gamma<const D: usize> {
    shape: Param<D>,
    rate: Param<D>,
}

impl<const D: usize> Gamma<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `shape` or `rate` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(shape: impl Into<Param<D>>, rate: impl Into<Param<D>>) -> Self {
        Self { shape: shape.into().positive("Gamma", "shape"), rate: rate.into().positive("Gamma", "rate") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("Gamma", &value, Support::NotNegative);
        let outside = value.clone().lower_elem(0.0);
        let constant = self.shape.clone() * self.rate.log() - self.shape.lgamma();
        within(value, outside, 1.0, |x| {
            // The logarithm is of x, not of rate · x, whose gradient with respect to the rate would be 0 · ∞ at x = 0.
            ((self.shape.clone() - 1.0).xlogy(x.clone()) - x.times(&self.rate)).plus(&constant)
        })
    }
}

elementwise!(Gamma { shape, rate }, |[shape, rate], rng| draw(rand_distr::Gamma::new(shape, rate.recip()), rng), mean: |[shape, rate]| shape / rate);
