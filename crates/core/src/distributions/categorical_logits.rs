//! The categorical distribution, by unnormalised log probabilities.

use burn_tensor::{Int, Tensor, TensorData};
use rand::{Rng, RngExt};

use super::observed::{Support, observed_integers};
use super::param::{Param, as_rows};
use crate::special::logsumexp;

/// The categorical distribution, by unnormalised log probabilities.
///
/// ```text
/// log p(x) = logits[x] − log Σₖ exp(logits[k]),   x = 0 … k−1
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `logits` | log probabilities up to a constant, `[n, k]`, or `[1, k]` or `[k]` for all rows | any real |
///
/// Support: 0 … k−1, one integer per row; −∞ for integers outside.
#[derive(Clone, Debug)]
pub struct CategoricalLogits {
    logits: Tensor<2>,
}

impl CategoricalLogits {
    /// The distribution with these log probabilities, `[n, k]`, `[1, k]` or `[k]`, which need not be normalised.
    pub fn new<const R: usize>(logits: Tensor<R>) -> Self {
        Self { logits: as_rows(logits, "CategoricalLogits", "logits") }
    }

    /// The log probability of each category in `value`.
    pub fn log_prob(&self, value: Tensor<1, Int>) -> Tensor<1> {
        let (logits, [n]) = (self.logits.clone(), value.dims());
        let [rows, categories] = logits.dims();
        let last = categories as i64 - 1;
        observed_integers("CategoricalLogits", &value, Support::Counts(last as f64));
        let outside = value.clone().lower_elem(0).bool_or(value.clone().greater_elem(last));
        let total = logsumexp(logits.clone(), 1).squeeze_dim::<1>(1);
        let logits = if rows == n { logits } else { logits.expand([n, categories]) };
        let chosen = logits.gather(1, value.clamp(0, last).unsqueeze_dim(1)).squeeze_dim::<1>(1);
        (chosen - total).mask_fill(outside, f64::NEG_INFINITY)
    }

    /// One category for each of `n` rows.
    pub fn sample<R: Rng + ?Sized>(&self, n: usize, rng: &mut R) -> Tensor<1, Int> {
        let [_, categories] = self.logits.dims();
        let logits = Param::Tensor(self.logits.clone()).values([n, categories]);
        let drawn: Vec<i64> = logits.chunks_exact(categories.max(1)).map(|row| category(row, rng) as i64).collect();
        Tensor::from_data(TensorData::new(drawn, [n]), &crate::array::default_device())
    }
}

/// A category drawn in proportion to exp(logits).
pub(super) fn category<R: Rng + ?Sized>(logits: &[f64], rng: &mut R) -> usize {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (category, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return category;
        }
    }
    // Rounding left a sliver after the last category that can occur.
    weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0)
}
