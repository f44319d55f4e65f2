//! The binomial distribution, parameterized by the log odds of success.

use burn_tensor::Tensor;
use rand_distr::Distribution;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;
use crate::special::{broadcast, lbeta};

/// The binomial distribution, parameterized by the log odds of success.
///
/// ```text
/// log p(x) = log C(total, x) + x log σ(logits) + (total − x) log σ(−logits),   x = 0 … total
/// σ(z) = 1/(1 + exp(−z))
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `total` | number of trials | number or `Tensor<D>` | whole, not negative |
/// | `logits` | log odds of success | number or `Tensor<D>` | any real |
///
/// Support: whole numbers from 0 to `total`; the log probability is −∞ below and above.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Binomial_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::BinomialLogits;
///
/// let x = sgmcmc::array(vec![2.0], [1])?;
/// let log_prob: Vec<f64> = BinomialLogits::new(4.0, 0.0).log_prob(x).into_data().iter::<f64>().collect();
/// // C(4, 2)/2⁴ = 0.375.
/// assert!((log_prob[0] + 0.9808293).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BinomialLogits<const D: usize> {
    total: Param<D>,
    logits: Param<D>,
}

impl<const D: usize> BinomialLogits<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `total` is a number that is negative or not whole, or if `logits` is a number that is not finite.
    /// Tensors are not checked.
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

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let largest = match self.total {
            Param::Number(total) => total,
            Param::Tensor(_) => f64::INFINITY,
        };
        record("BinomialLogits", &value, Support::Counts(largest));
        // The mask below has the shape of the value, so the value must have the broadcast shape.
        let value = match &self.total {
            Param::Number(_) => value,
            Param::Tensor(total) => broadcast(value, total.clone()).0,
        };
        let failures = value.clone().neg().plus(&self.total);
        record("BinomialLogits", &failures, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0).bool_or(failures.lower_elem(0.0));
        within(value, outside, 0.0, |x| {
            let failures = x.clone().neg().plus(&self.total);
            let log_combinations =
                lbeta(failures.clone() + 1.0, x.clone() + 1.0).neg().minus(&(self.total.clone() + 1.0).log());
            let (success, failure) = (self.logits.log_sigmoid(), (self.logits.clone() * -1.0).log_sigmoid());
            log_combinations + x.times(&success) + failures.times(&failure)
        })
    }
}

elementwise!(BinomialLogits { total, logits }, |[total, logits], rng| {
    let success = 1.0 / (1.0 + (-logits).exp());
    let trials = if total >= 0.0 { total as u64 } else { return f64::NAN };
    draw(rand_distr::Binomial::new(trials, success).map(|d| d.map(|count| count as f64)), rng)
}, mean: |[total, logits]| total / (1.0 + (-logits).exp()));
