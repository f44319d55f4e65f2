//! The multinomial distribution, over rows of counts.

use burn_tensor::Tensor;
use rand::Rng;
use rand_distr::{Binomial, Distribution};

use super::draw;
use super::observed::{Support, record};
use super::param::{Param, as_rows, from_host};
use super::support::within_rows;
use crate::special::{lgamma, logsumexp, xlogy};

/// The multinomial distribution, over rows of counts.
///
/// ```text
/// log p(x) = lgamma(N + 1) − Σⱼ lgamma(x[j] + 1) + Σⱼ x[j] log p[j],   N = Σⱼ x[j]
/// ```
///
/// | parameter | meaning | shape | range |
/// |---|---|---|---|
/// | `probs` | probabilities p ([`new`](Self::new)) | `[k]`, `[1, k]` or `[n, k]` | ≥ 0; each row sums to one |
/// | `logits` | unnormalized log p ([`from_logits`](Self::from_logits)) | `[k]`, `[1, k]` or `[n, k]` | any real |
/// | `total` | total count N of a drawn row ([`total`](Self::total)) | integer | not negative |
///
/// Support: rows of whole numbers ≥ 0; the log probability is −∞ for rows with a negative number. The density takes N
/// from the value; `total` is needed only to draw rows. The sums of the probabilities are not checked.
///
/// See also [Wikipedia](https://en.wikipedia.org/wiki/Multinomial_distribution).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::Multinomial;
///
/// let x = sgmcmc::array(vec![1.0, 1.0], [1, 2])?;
/// let multinomial = Multinomial::new(sgmcmc::array(vec![0.5, 0.5], [2])?);
/// let log_prob: Vec<f64> = multinomial.log_prob(x).into_data().iter::<f64>().collect();
/// // Two orders of probability 1/4 each: log(1/2).
/// assert!((log_prob[0] + 0.6931472).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Multinomial {
    categories: Categories,
    total: Option<u64>,
}

/// The probabilities of the categories, as they are or as unnormalized logarithms.
#[derive(Clone, Debug)]
enum Categories {
    Probabilities(Tensor<2>),
    Logits(Tensor<2>),
}

impl Multinomial {
    /// Creates the distribution from probabilities of shape `[k]`, `[1, k]` or `[n, k]`. Each row must sum to one,
    /// which is not checked.
    ///
    /// # Panics
    ///
    /// Panics if the rank of `probs` is neither one nor two.
    pub fn new<const R: usize>(probs: Tensor<R>) -> Self {
        Self { categories: Categories::Probabilities(as_rows(probs, "Multinomial", "probs")), total: None }
    }

    /// Creates the distribution from log probabilities of shape `[k]`, `[1, k]` or `[n, k]`, which need not be
    /// normalized.
    ///
    /// # Panics
    ///
    /// Panics if the rank of `logits` is neither one nor two.
    pub fn from_logits<const R: usize>(logits: Tensor<R>) -> Self {
        Self { categories: Categories::Logits(as_rows(logits, "Multinomial", "logits")), total: None }
    }

    /// Sets the total count of each drawn row.
    pub fn total(self, total: u64) -> Self {
        Self { total: Some(total), ..self }
    }

    /// Returns the log probability of each row of `value`, which has shape `[n, k]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        record("Multinomial", &value, Support::Counts(f64::INFINITY));
        within_rows(value, 0.0, |x| {
            let log_orders = lgamma(x.clone().sum_dim(1) + 1.0);
            let categories = match &self.categories {
                Categories::Probabilities(probs) => xlogy(x.clone(), probs.clone()),
                Categories::Logits(logits) => x.clone() * (logits.clone() - logsumexp(logits.clone(), 1)),
            };
            (categories - lgamma(x + 1.0)).sum_dim(1) + log_orders
        })
    }

    /// Draws rows of counts. `shape` is `[n, k]`.
    ///
    /// # Panics
    ///
    /// Panics if no [`total`](Self::total) was set, or if the probabilities do not broadcast to `shape`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], rng: &mut R) -> Tensor<2> {
        let Some(total) = self.total else {
            panic!("Multinomial: sample needs the total count of a row; set it with .total(…)");
        };
        let probs = match &self.categories {
            Categories::Probabilities(probs) => Param::Tensor(probs.clone()).values(shape),
            Categories::Logits(logits) => {
                let logits = logits.clone();
                Param::Tensor((logits.clone() - logsumexp(logits, 1)).exp()).values(shape)
            }
        };
        let mut drawn = Vec::with_capacity(probs.len());
        for row in probs.chunks_exact(shape[1].max(1)) {
            // Given the counts before it, each count is binomial.
            let (mut remaining, mut mass) = (total, row.iter().sum::<f64>());
            for (category, p) in row.iter().enumerate() {
                let share = if category + 1 == row.len() { 1.0 } else { (p / mass).clamp(0.0, 1.0) };
                let count = draw(Binomial::new(remaining, share).map(|d| d.map(|count| count as f64)), rng);
                drawn.push(count);
                remaining -= (count as u64).min(remaining);
                mass = (mass - p).max(0.0);
            }
        }
        from_host(drawn, shape)
    }
}

rowwise!(Multinomial, Discrete);
