//! The Bernoulli distribution, by the log odds of one.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;
use rand_distr::Distribution;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Combine, Param};

/// The Bernoulli distribution, by the log odds of one.
///
/// ```text
/// log p(x) = log σ((2x − 1) logits),   x = 0, 1,   σ(z) = 1/(1 + exp(−z))
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `logits` | log odds of one | any real |
///
/// Support: 0 and 1, which the density does not check.
#[derive(Clone, Debug)]
pub struct BernoulliLogits<const D: usize> {
    logits: Param<D>,
}

impl<const D: usize> BernoulliLogits<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(logits: impl Into<Param<D>>) -> Self {
        Self { logits: logits.into().finite("BernoulliLogits", "logits") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("BernoulliLogits", &value, Support::ZeroOrOne);
        log_sigmoid((value * 2.0 - 1.0).times(&self.logits))
    }
}

elementwise!(BernoulliLogits { logits }, |[logits], rng| {
    let success = 1.0 / (1.0 + (-logits).exp());
    draw(rand_distr::Bernoulli::new(success).map(|d| d.map(|one| f64::from(u8::from(one)))), rng)
});
