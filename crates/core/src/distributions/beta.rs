//! The beta distribution.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;

/// The beta distribution.
///
/// ```text
/// log p(x) = (a − 1) log x + (b − 1) log(1 − x) − lbeta(a, b),   0 ≤ x ≤ 1
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `a` | first shape; the mean is a/(a + b) | number or `Tensor<D>` | positive |
/// | `b` | second shape | number or `Tensor<D>` | positive |
///
/// Support: 0 ≤ x ≤ 1; the log density is −∞ outside. At x = 0 it is +∞ for a < 1, finite for a = 1 and −∞ for a > 1;
/// at x = 1 the same holds with b instead of a.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Beta_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Beta;
///
/// let x = sgmcmc::array(vec![0.5], [1])?;
/// let log_prob: Vec<f64> = Beta::new(2.0, 2.0).log_prob(x).into_data().iter::<f64>().collect();
/// // The density is 6 x (1 − x) = 1.5.
/// assert!((log_prob[0] - 0.4054651).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Beta<const D: usize> {
    a: Param<D>,
    b: Param<D>,
}

impl<const D: usize> Beta<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `a` or `b` is a number that is not positive and finite. Tensors are not checked.
    pub fn new(a: impl Into<Param<D>>, b: impl Into<Param<D>>) -> Self {
        Self { a: a.into().positive("Beta", "a"), b: b.into().positive("Beta", "b") }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("Beta", &value, Support::Interval(0.0, 1.0));
        let outside = value.clone().lower_elem(0.0).bool_or(value.clone().greater_elem(1.0));
        within(value, outside, 0.5, |x| {
            let from_zero = (self.a.clone() - 1.0).xlogy(x.clone());
            let from_one = (self.b.clone() - 1.0).xlog1py(x.neg());
            (from_zero + from_one).minus(&self.a.lbeta(&self.b))
        })
    }
}

elementwise!(Beta { a, b }, |[a, b], rng| draw(rand_distr::Beta::new(a, b), rng), mean: |[a, b]| a / (a + b));
