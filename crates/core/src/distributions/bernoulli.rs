//! The Bernoulli distribution, parameterized by the probability of one.

use burn_tensor::Tensor;
use rand_distr::Distribution;

use super::draw;
use super::observed::{Support, record};
use super::param::Param;
use crate::special::{xlog1py, xlogy};

/// The Bernoulli distribution, parameterized by the probability of one.
///
/// ```text
/// log p(x) = x log probs + (1 − x) log(1 − probs),   x = 0, 1
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `probs` | probability of one | number or `Tensor<D>` | 0 ≤ probs ≤ 1 |
///
/// Support: 0 and 1. The density does not check that values are 0 or 1. In regressions,
/// [`BernoulliLogits`](super::BernoulliLogits) is numerically more stable.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Bernoulli_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Bernoulli;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = Bernoulli::new(0.25).log_prob(x).into_data().iter::<f64>().collect();
/// // log 0.25
/// assert!((log_prob[0] + 1.3862944).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bernoulli<const D: usize> {
    probs: Param<D>,
}

impl<const D: usize> Bernoulli<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `probs` is a number outside [0, 1]. Tensors are not checked.
    pub fn new(probs: impl Into<Param<D>>) -> Self {
        Self { probs: probs.into().checked(|p| (0.0..=1.0).contains(&p), "Bernoulli", "probs", "between zero and one") }
    }

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("Bernoulli", &value, Support::ZeroOrOne);
        match self.probs {
            Param::Number(p) if p > 0.0 && p < 1.0 => value.clone() * p.ln() + (value.neg() + 1.0) * (-p).ln_1p(),
            _ => {
                let probs = self.probs.like(&value);
                xlogy(value.clone(), probs.clone()) + xlog1py(value.neg() + 1.0, probs.neg())
            }
        }
    }
}

elementwise!(Bernoulli { probs }, |[probs], rng| draw(
    rand_distr::Bernoulli::new(probs).map(|d| d.map(|one| f64::from(u8::from(one)))),
    rng
), mean: |[probs]| probs);
