//! The uniform distribution on an interval.

use burn_tensor::Tensor;
use rand::RngExt;

use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::minus_infinity;

/// The uniform distribution on an interval.
///
/// ```text
/// log p(x) = −log(high − low),   low ≤ x ≤ high
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `low` | lower bound | number or `Tensor<D>` | below `high` |
/// | `high` | upper bound | number or `Tensor<D>` | above `low` |
///
/// Support: low ≤ x ≤ high; the log density is −∞ outside. The gradient with respect to the value is zero everywhere.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Continuous_uniform_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Uniform;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = Uniform::new(0.0, 4.0).log_prob(x).into_data().iter::<f64>().collect();
/// // −log 4
/// assert!((log_prob[0] + 1.3862944).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Uniform<const D: usize> {
    low: Param<D>,
    high: Param<D>,
}

impl<const D: usize> Uniform<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `low` or `high` is a number that is not finite, or if both are numbers and `low` is not below `high`.
    /// Tensors are not checked.
    pub fn new(low: impl Into<Param<D>>, high: impl Into<Param<D>>) -> Self {
        let (low, high) = (low.into().finite("Uniform", "low"), high.into().finite("Uniform", "high"));
        if let (Param::Number(low), Param::Number(high)) = (&low, &high)
            && low >= high
        {
            panic!("Uniform: high must be above low = {low}, not {high}");
        }
        Self { low, high }
    }

    /// Returns the log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        if let (Param::Number(low), Param::Number(high)) = (&self.low, &self.high) {
            record("Uniform", &value, Support::Interval(*low, *high));
        } else {
            record("Uniform", &value, Support::Dependent);
        }
        let below = value.clone().minus(&self.low).lower_elem(0.0);
        let above = value.clone().minus(&self.high).greater_elem(0.0);
        let inside = value.zeros_like().minus(&(self.high.clone() - self.low.clone()).log());
        minus_infinity(minus_infinity(inside, below), above)
    }
}

elementwise!(Uniform { low, high }, |[low, high], rng| {
    let u: f64 = rng.random();
    if low < high { low + (high - low) * u } else { f64::NAN }
}, mean: |[low, high]| 0.5 * (low + high));
