//! Distributions with additional zeros.

use burn_tensor::Tensor;
use rand::{Rng, RngExt};

use super::{Distribution, Domain};
use super::param::{Combine, Param, from_host, host};
use super::support::minus_infinity;
use crate::special::logaddexp;

/// A distribution with additional zeros: the value is zero with the probability of an additional zero, and a draw of
/// another distribution otherwise.
///
/// ```text
/// log p(0) = log(π + (1 − π) exp(log q(0)))
/// log p(x) = log(1 − π) + log q(x),   x ≠ 0
/// π = σ(logits), q: the other distribution
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `logits` | log odds of an additional zero | number or `Tensor<D>` | any real |
/// | `distribution` | the other distribution, such as [`Poisson`](super::Poisson) | distribution of counts | |
///
/// Support: zero, and the support of the other distribution, which must be one of counts: a density has no probability
/// at zero to be added to.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Zero-inflated_model).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Poisson, ZeroInflated};
///
/// let counts = ZeroInflated::new(0.0, Poisson::new(2.0));
/// let x = sgmcmc::array(vec![0.0], [1])?;
/// let log_prob: Vec<f64> = counts.log_prob(x).into_data().iter::<f64>().collect();
/// // ½ + ½ exp(−2)
/// assert!((log_prob[0] - (0.5 + 0.5 * (-2.0_f64).exp()).ln()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct ZeroInflated<const D: usize> {
    logits: Param<D>,
    distribution: Box<dyn Distribution<D>>,
}

impl<const D: usize> ZeroInflated<D> {
    /// Creates the distribution from the log odds of an additional zero, and a distribution of counts.
    ///
    /// # Panics
    ///
    /// Panics if `logits` is a number that is not finite. Tensors are not checked.
    pub fn new(logits: impl Into<Param<D>>, distribution: impl Distribution<D> + 'static) -> Self {
        Self { logits: logits.into().finite("ZeroInflated", "logits"), distribution: Box::new(distribution) }
    }

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let zero = value.clone().equal_elem(0.0);
        let other = self.distribution.log_prob(value);
        let impossible = other.clone().equal_elem(f64::NEG_INFINITY);
        let counted = other.plus(&(self.logits.clone() * -1.0).log_sigmoid());
        let dims = counted.dims();
        let zero = if zero.dims() == dims { zero } else { zero.expand(dims) };
        let additional = self.logits.log_sigmoid().like(&counted);
        let at_zero = logaddexp(additional, counted.clone());
        // Only zeros are possible outside the support of the other distribution.
        minus_infinity(counted, impossible).mask_where(zero, at_zero)
    }

    /// Returns independent draws in an `f64` tensor of the given shape on the default device.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; D], mut rng: &mut R) -> Tensor<D> {
        let mut values = host(&self.distribution.sample(shape, &mut rng));
        for (value, logits) in values.iter_mut().zip(self.logits.values(shape)) {
            if rng.random::<f64>() < 1.0 / (1.0 + (-logits).exp()) {
                *value = 0.0;
            }
        }
        from_host(values, shape)
    }
}

impl<const D: usize> Distribution<D> for ZeroInflated<D> {
    fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        Self::log_prob(self, value)
    }

    fn sample(&self, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D> {
        Self::sample(self, shape, rng)
    }

    fn support(&self) -> Domain {
        self.distribution.support()
    }
}

generative!(ZeroInflated);
