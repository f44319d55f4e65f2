//! The Bernoulli distribution, parameterized by the log odds of one.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;
use rand_distr::Distribution;

use super::draw;
use super::observed::{Support, record};
use super::param::{Combine, Param};

/// The Bernoulli distribution, parameterized by the log odds of one.
///
/// ```text
/// log p(x) = log σ((2x − 1) logits),   x = 0, 1,   σ(z) = 1/(1 + exp(−z))
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `logits` | log odds of one | number or `Tensor<D>` | any real |
///
/// Support: 0 and 1. The density does not check that values are 0 or 1. This is the likelihood of logistic regression.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Bernoulli_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::BernoulliLogits;
///
/// let x = sgmcmc::array(vec![1.0], [1])?;
/// let log_prob: Vec<f64> = BernoulliLogits::new(3.0_f64.ln()).log_prob(x).into_data().iter::<f64>().collect();
/// // Odds of 3 to 1: log(3/4).
/// assert!((log_prob[0] + 0.2876821).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BernoulliLogits<const D: usize> {
    logits: Param<D>,
}

impl<const D: usize> BernoulliLogits<D> {
    /// Creates the distribution. Each parameter is a number or a tensor that broadcasts against the values.
    ///
    /// # Panics
    ///
    /// Panics if `logits` is a number that is not finite. Tensors are not checked.
    pub fn new(logits: impl Into<Param<D>>) -> Self {
        Self { logits: logits.into().finite("BernoulliLogits", "logits") }
    }

    /// Returns the log probability of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        record("BernoulliLogits", &value, Support::ZeroOrOne);
        log_sigmoid((value * 2.0 - 1.0).times(&self.logits))
    }
}

elementwise!(BernoulliLogits { logits }, |[logits], rng| {
    let success = 1.0 / (1.0 + (-logits).exp());
    draw(rand_distr::Bernoulli::new(success).map(|d| d.map(|one| f64::from(u8::from(one)))), rng)
}, mean: |[logits]| 1.0 / (1.0 + (-logits).exp()));
