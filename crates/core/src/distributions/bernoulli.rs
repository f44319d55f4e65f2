//! The Bernoulli distribution, by the probability of one.

use burn_tensor::Tensor;
use rand_distr::Distribution;

use super::draw;
use super::observed::{Support, observed};
use super::param::Param;
use crate::special::{xlog1py, xlogy};

/// The Bernoulli distribution, by the probability of one.
///
/// ```text
/// log p(x) = x log probs + (1 − x) log(1 − probs),   x = 0, 1
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `probs` | probability of one | 0 ≤ probs ≤ 1 |
///
/// Support: 0 and 1, which the density does not check. See [`BernoulliLogits`](super::BernoulliLogits) for the stable form in
/// regressions.
#[derive(Clone, Debug)]
pub struct Bernoulli<const D: usize> {
    probs: Param<D>,
}

impl<const D: usize> Bernoulli<D> {
    /// The distribution with these parameters. Panics if one is a number out of its range.
    pub fn new(probs: impl Into<Param<D>>) -> Self {
        Self { probs: probs.into().checked(|p| (0.0..=1.0).contains(&p), "Bernoulli", "probs", "between zero and one") }
    }

    /// The log density of each element of `value`.
    pub fn log_prob(&self, value: Tensor<D>) -> Tensor<D> {
        observed("Bernoulli", &value, Support::ZeroOrOne);
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
));
