//! The Dirichlet distribution, over rows of proportions.

use burn_tensor::Tensor;
use rand::Rng;

use super::draw;
use super::observed::{Support, observed};
use super::param::{Param, as_rows, from_host};
use super::support::within_rows;
use crate::special::{lgamma, xlogy};

/// The Dirichlet distribution, over rows of proportions.
///
/// ```text
/// log p(x) = Σⱼ (concentration[j] − 1) log x[j] + lgamma(Σⱼ concentration[j]) − Σⱼ lgamma(concentration[j])
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `concentration` | weights of the parts, `[k]`, `[1, k]` or `[n, k]`; their ratios are the mean | positive |
///
/// Support: rows of numbers ≥ 0 with sum one; −∞ where one is negative. That they add up to one is not checked, since
/// it holds only up to rounding. The density is with respect to the first k − 1 parts. Where a part is zero it is the
/// limit, as in [`Beta`](super::Beta).
#[derive(Clone, Debug)]
pub struct Dirichlet {
    concentration: Tensor<2>,
}

impl Dirichlet {
    /// The distribution with these weights, `[k]`, `[1, k]` or `[n, k]`.
    pub fn new<const R: usize>(concentration: Tensor<R>) -> Self {
        Self { concentration: as_rows(concentration, "Dirichlet", "concentration") }
    }

    /// The log density of each row of `value`, `[n, k]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        observed("Dirichlet", &value, Support::Interval(0.0, 1.0));
        let weights = self.concentration.clone();
        let constant = lgamma(weights.clone().sum_dim(1)) - lgamma(weights.clone()).sum_dim(1);
        within_rows(value, 0.5, |x| xlogy(weights - 1.0, x).sum_dim(1) + constant)
    }

    /// Rows of proportions: `shape` is `[n, k]`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], rng: &mut R) -> Tensor<2> {
        let weights = Param::Tensor(self.concentration.clone()).values(shape);
        let mut drawn: Vec<f64> = weights.iter().map(|a| draw(rand_distr::Gamma::new(*a, 1.0), rng)).collect();
        for row in drawn.chunks_exact_mut(shape[1].max(1)) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|part| *part /= sum);
        }
        from_host(drawn, shape)
    }
}

rowwise!(Dirichlet);
