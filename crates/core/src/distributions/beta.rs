//! The beta distribution.

use burn_tensor::Tensor;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;

/// The beta distribution.
///
/// ```text
/// log p(x) = (a − 1) log x + (b − 1) log(1 − x) − lbeta(a, b),   0 ≤ x ≤ 1
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `a` | weight of one; the mean is a/(a + b) | positive |
/// | `b` | weight of zero | positive |
///
/// Support: 0 ≤ x ≤ 1; −∞ outside. At an edge it is the limit: +∞, finite or −∞ as the parameter there is below, at or
/// above one.
#[derive(Clone, Debug)]
pub struct Beta<const D: usize> {
    a: Param<D>,
    b: Param<D>,
}

impl<const D: usize> Beta<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(a: impl Into<Param<D>>, b: impl Into<Param<D>>) -> Self {
        Self { a: a.into().positive("Beta", "a"), b: b.into().positive("Beta", "b") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("Beta", &value, Support::Interval(0.0, 1.0));
        let outside = value.clone().lower_elem(0.0).bool_or(value.clone().greater_elem(1.0));
        within(value, outside, 0.5, |x| {
            let from_zero = (self.a.clone() - 1.0).xlogy(x.clone());
            let from_one = (self.b.clone() - 1.0).xlog1py(x.neg());
            (from_zero + from_one).minus(&self.a.lbeta(&self.b))
        })
    }
}

elementwise!(Beta { a, b }, |[a, b], rng| draw(rand_distr::Beta::new(a, b), rng));
