//! The multinomial distribution, over rows of counts.

use burn_tensor::Tensor;
use rand::Rng;
use rand_distr::{Binomial, Distribution};

use super::draw;
use super::observed::{Support, observed};
use super::param::{Param, as_rows, from_host};
use super::support::within_rows;
use crate::special::{lgamma, logsumexp, xlogy};

/// The multinomial distribution, over rows of counts.
///
/// ```text
/// log p(x) = lgamma(N + 1) − Σⱼ lgamma(x[j] + 1) + Σⱼ x[j] log p[j],   N = Σⱼ x[j]
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `probs` | probabilities, `[k]`, `[1, k]` or `[n, k]`, | ≥ 0, each row with sum one, which is not checked |
/// | `logits` | or log probabilities up to a constant | any real |
/// | `total` | N, for draws only; densities take it from the value | whole |
///
/// Support: rows of whole numbers ≥ 0; −∞ where one is negative.
#[derive(Clone, Debug)]
pub struct Multinomial {
    cells: Cells,
    total: Option<u64>,
}

#[derive(Clone, Debug)]
enum Cells {
    Probabilities(Tensor<2>),
    Logits(Tensor<2>),
}

impl Multinomial {
    /// The distribution with these probabilities, `[k]`, `[1, k]` or `[n, k]`, rows adding up to one.
    pub fn new<const R: usize>(probs: Tensor<R>) -> Self {
        Self { cells: Cells::Probabilities(as_rows(probs, "Multinomial", "probs")), total: None }
    }

    /// The distribution with these log probabilities, `[k]`, `[1, k]` or `[n, k]`, which need not be normalised.
    pub fn from_logits<const R: usize>(logits: Tensor<R>) -> Self {
        Self { cells: Cells::Logits(as_rows(logits, "Multinomial", "logits")), total: None }
    }

    /// How many counts a drawn row has in all.
    pub fn total(self, total: u64) -> Self {
        Self { total: Some(total), ..self }
    }

    /// The log probability of each row of `value`, `[n, k]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        observed("Multinomial", &value, Support::Counts(f64::INFINITY));
        within_rows(value, 0.0, |x| {
            let arrangements = lgamma(x.clone().sum_dim(1) + 1.0);
            let cells = match &self.cells {
                Cells::Probabilities(probs) => xlogy(x.clone(), probs.clone()),
                Cells::Logits(logits) => x.clone() * (logits.clone() - logsumexp(logits.clone(), 1)),
            };
            (cells - lgamma(x + 1.0)).sum_dim(1) + arrangements
        })
    }

    /// Rows of counts: `shape` is `[n, k]`. Panics if no [`total`](Self::total) was given.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], rng: &mut R) -> Tensor<2> {
        let Some(total) = self.total else {
            panic!("Multinomial: to draw counts, say how many there are in all with .total(…)");
        };
        let probs = match &self.cells {
            Cells::Probabilities(probs) => Param::Tensor(probs.clone()).values(shape),
            Cells::Logits(logits) => {
                let logits = logits.clone();
                Param::Tensor((logits.clone() - logsumexp(logits, 1)).exp()).values(shape)
            }
        };
        let mut drawn = Vec::with_capacity(probs.len());
        for row in probs.chunks_exact(shape[1].max(1)) {
            // One cell after the other, each binomial given those before.
            let (mut left, mut mass) = (total, row.iter().sum::<f64>());
            for (cell, p) in row.iter().enumerate() {
                let share = if cell + 1 == row.len() { 1.0 } else { (p / mass).clamp(0.0, 1.0) };
                let count = draw(Binomial::new(left, share).map(|d| d.map(|count| count as f64)), rng);
                drawn.push(count);
                left -= (count as u64).min(left);
                mass = (mass - p).max(0.0);
            }
        }
        from_host(drawn, shape)
    }
}

rowwise!(Multinomial);
