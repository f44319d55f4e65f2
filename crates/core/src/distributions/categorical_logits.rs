//! The categorical distribution, parameterized by unnormalized log probabilities.

use burn_tensor::{Int, Tensor, TensorData};
use rand::{Rng, RngExt};

use super::observed::{Support, record_integers};
use super::param::{Param, as_rows};
use crate::special::logsumexp;

/// The categorical distribution, parameterized by unnormalized log probabilities.
///
/// ```text
/// log p(x) = logits[x] − log Σₖ exp(logits[k]),   x = 0 … k−1
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `logits` | log probabilities up to a constant | `[n, k]`, `[1, k]` or `[k]` | any real |
///
/// Support: the integers 0 … k−1, one per value; the log probability is −∞ for other integers. This is the likelihood
/// of softmax regression.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Categorical_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::CategoricalLogits;
///
/// let logits = sgmcmc::array(vec![0.0, 3.0_f64.ln()], [2])?;
/// let x = sgmcmc::array(vec![1_i64], [1])?;
/// let log_prob: Vec<f64> = CategoricalLogits::new(logits).log_prob(x).into_data().iter::<f64>().collect();
/// // The probabilities are 1/4 and 3/4: log(3/4).
/// assert!((log_prob[0] + 0.2876821).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CategoricalLogits {
    logits: Tensor<2>,
}

impl CategoricalLogits {
    /// Creates the distribution from log probabilities of shape `[n, k]`, `[1, k]` or `[k]`, which need not be
    /// normalized.
    ///
    /// # Panics
    ///
    /// Panics if the rank of `logits` is neither one nor two.
    pub fn new<const R: usize>(logits: Tensor<R>) -> Self {
        Self { logits: as_rows(logits, "CategoricalLogits", "logits") }
    }

    /// Returns the log probability of each category in `value`.
    pub fn log_prob(&self, value: Tensor<1, Int>) -> Tensor<1> {
        let (logits, [n]) = (self.logits.clone(), value.dims());
        let [rows, categories] = logits.dims();
        let last = categories as i64 - 1;
        record_integers("CategoricalLogits", &value, Support::Counts(last as f64));
        let outside = value.clone().lower_elem(0).bool_or(value.clone().greater_elem(last));
        let total = logsumexp(logits.clone(), 1).squeeze_dim::<1>(1);
        let logits = if rows == n { logits } else { logits.expand([n, categories]) };
        let chosen = logits.gather(1, value.clamp(0, last).unsqueeze_dim(1)).squeeze_dim::<1>(1);
        (chosen - total).mask_fill(outside, f64::NEG_INFINITY)
    }

    /// Draws `n` categories.
    ///
    /// # Panics
    ///
    /// Panics if `logits` has neither one nor `n` rows.
    pub fn sample<R: Rng + ?Sized>(&self, n: usize, rng: &mut R) -> Tensor<1, Int> {
        let [_, categories] = self.logits.dims();
        let logits = Param::Tensor(self.logits.clone()).values([n, categories]);
        let drawn: Vec<i64> = logits.chunks_exact(categories.max(1)).map(|row| category(row, rng) as i64).collect();
        Tensor::from_data(TensorData::new(drawn, [n]), &crate::array::default_device())
    }
}

/// Draws a category with probability proportional to exp(logits).
pub(crate) fn category<R: Rng + ?Sized>(logits: &[f64], rng: &mut R) -> usize {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let mut remaining = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (category, weight) in weights.iter().enumerate() {
        remaining -= weight;
        if remaining < 0.0 {
            return category;
        }
    }
    // Rounding can leave a remainder: return the last category with a positive weight.
    weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0)
}
