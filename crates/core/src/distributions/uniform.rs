//! The uniform distribution on an interval.

use burn_tensor::Tensor;
use rand::RngExt;

use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::minus_infinity;

/// The uniform distribution on an interval.
///
/// ```text
/// log p(x) = −log(high − low),   low ≤ x ≤ high
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `low` | lower end | below high |
/// | `high` | upper end | above low |
///
/// Support: low ≤ x ≤ high; −∞ outside. The gradient to the value is zero everywhere.
#[derive(Clone, Debug)]
pub struct Uniform<const D: usize> {
    low: Param<D>,
    high: Param<D>,
}

impl<const D: usize> Uniform<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(low: impl Into<Param<D>>, high: impl Into<Param<D>>) -> Self {
        let (low, high) = (low.into().finite("Uniform", "low"), high.into().finite("Uniform", "high"));
        if let (Param::Number(low), Param::Number(high)) = (&low, &high)
            && low >= high
        {
            panic!("Uniform: high must be above low = {low}, not {high}");
        }
        Self { low, high }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        if let (Param::Number(low), Param::Number(high)) = (&self.low, &self.high) {
            observed("Uniform", &value, Support::Interval(*low, *high));
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
});
