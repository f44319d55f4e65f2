//! The binomial distribution, by the log odds of success.

use burn_tensor::Tensor;
use rand_distr::Distribution;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};
use super::support::within;
use crate::special::{broadcast, lbeta};

/// The binomial distribution, by the log odds of success.
///
/// ```text
/// log p(x) = log C(total, x) + x log σ(logits) + (total − x) log σ(−logits),   x = 0 … total
/// σ(z) = 1/(1 + exp(−z))
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `total` | number of trials | whole, not negative |
/// | `logits` | log odds of success | any real |
///
/// Support: whole numbers from 0 to total; −∞ below and above.
#[derive(Clone, Debug)]
pub struct BinomialLogits<const D: usize> {
    total: Param<D>,
    logits: Param<D>,
}

impl<const D: usize> BinomialLogits<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(total: impl Into<Param<D>>, logits: impl Into<Param<D>>) -> Self {
        Self {
            total: total.into().checked(
                |n| n >= 0.0 && n.fract() == 0.0,
                "BinomialLogits",
                "total",
                "a whole number, not negative",
            ),
            logits: logits.into().finite("BinomialLogits", "logits"),
        }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let most = match self.total {
            Param::Number(total) => total,
            Param::Tensor(_) => f64::INFINITY,
        };
        observed("BinomialLogits", &value, Support::Counts(most));
        // The mask has the shape of the value.
        let value = match &self.total {
            Param::Number(_) => value,
            Param::Tensor(total) => broadcast(value, total.clone()).0,
        };
        let failures = value.clone().neg().plus(&self.total);
        observed("BinomialLogits", &failures, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0).bool_or(failures.lower_elem(0.0));
        within(value, outside, 0.0, |x| {
            let failures = x.clone().neg().plus(&self.total);
            let choices = lbeta(failures.clone() + 1.0, x.clone() + 1.0).neg().minus(&(self.total.clone() + 1.0).log());
            let (success, failure) = (self.logits.log_sigmoid(), (self.logits.clone() * -1.0).log_sigmoid());
            choices + x.times(&success) + failures.times(&failure)
        })
    }
}

elementwise!(BinomialLogits { total, logits }, |[total, logits], rng| {
    let success = 1.0 / (1.0 + (-logits).exp());
    let trials = if total >= 0.0 { total as u64 } else { return f64::NAN };
    draw(rand_distr::Binomial::new(trials, success).map(|d| d.map(|count| count as f64)), rng)
});
