//! The beta-binomial distribution.

use burn_tensor::Tensor;
use rand_distr::Distribution;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};
use super::support::within;
use crate::special::{broadcast, lbeta};

/// The beta-binomial distribution: a binomial distribution whose probability of success has a beta distribution.
///
/// ```text
/// log p(x) = log C(total, x) + log B(x + a, total − x + b) − log B(a, b),   x = 0 … total
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `total` | number of trials | number or `Tensor<D>` | whole, not negative |
/// | `a` | first shape of the beta distribution | number or `Tensor<D>` | positive |
/// | `b` | second shape of the beta distribution | number or `Tensor<D>` | positive |
///
/// Support: whole numbers from 0 to `total`; the log probability is −∞ below and above. The mean is
/// `total`·a/(a + b). With a = b = 1 all numbers have the same probability.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Beta-binomial_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::BetaBinomial;
///
/// let x = sgmcmc::array(vec![3.0], [1])?;
/// let log_prob: Vec<f64> = BetaBinomial::new(9.0, 1.0, 1.0).log_prob(x).into_data().iter::<f64>().collect();
/// // The ten values 0 … 9 have the same probability.
/// assert!((log_prob[0] - 0.1_f64.ln()).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BetaBinomial<const D: usize> {
    total: Param<D>,
    a: Param<D>,
    b: Param<D>,
}

impl<const D: usize> BetaBinomial<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `total` is a number that is negative or not whole, or if `a` or `b` is a number that is not positive
    /// and finite. Tensors are not checked.
    pub fn new(total: impl Into<Param<D>>, a: impl Into<Param<D>>, b: impl Into<Param<D>>) -> Self {
        Self {
            total: total.into().checked(
                |n| n >= 0.0 && n.fract() == 0.0,
                "BetaBinomial",
                "total",
                "a whole number, not negative",
            ),
            a: a.into().positive("BetaBinomial", "a"),
            b: b.into().positive("BetaBinomial", "b"),
        }
    }

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        let largest = match self.total {
            Param::Number(total) => total,
            Param::Tensor(_) => f64::INFINITY,
        };
        record("BetaBinomial", &value, Support::Counts(largest));
        // The mask below has the shape of the value, so the value must have the broadcast shape.
        let value = match &self.total {
            Param::Number(_) => value,
            Param::Tensor(total) => broadcast(value, total.clone()).0,
        };
        let failures = value.clone().neg().plus(&self.total);
        record("BetaBinomial", &failures, Support::Counts(f64::INFINITY));
        let outside = value.clone().lower_elem(0.0).bool_or(failures.lower_elem(0.0));
        within(value, outside, 0.0, |x| {
            let failures = x.clone().neg().plus(&self.total);
            let log_combinations =
                lbeta(failures.clone() + 1.0, x.clone() + 1.0).neg().minus(&(self.total.clone() + 1.0).log());
            let (x, failures) = broadcast(x.plus(&self.a), failures.plus(&self.b));
            (lbeta(x, failures) + log_combinations).minus(&self.a.lbeta(&self.b))
        })
    }
}

elementwise!(BetaBinomial { total, a, b }, |[total, a, b], rng| {
    let success = draw(rand_distr::Beta::new(a, b), rng);
    let trials = if total >= 0.0 { total as u64 } else { return f64::NAN };
    draw(rand_distr::Binomial::new(trials, success).map(|d| d.map(|count| count as f64)), rng)
});
