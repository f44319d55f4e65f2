//! The sampling threshold of Welling & Teh (2011), §4.1: when the noise that is injected outweighs the noise of the gradient.
//!
//! αₜ = N²/(4n) · λ_max(H^{1/2} Vₛ H^{1/2}), H the step sizes, Vₛ the covariance over n observations of the scores
//! sᵢ = ∇ log p(xᵢ|θ) + ∇ log p(θ)/N (eqs. (9) and (10)). Where αₜ ≪ 1 SGLD samples; where αₜ > 1 it is a stochastic climb.

use rand::SeedableRng;
use sgmcmc_core::minibatch::{Minibatch, Scheme};
use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{Error, Evaluator, Result, WithoutReplacement};

use crate::kernel::Kernel;

/// When draws begin to count.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.01 | draws are kept from the first αₜ below this on | > 0 |
/// | `minibatch` | – | n, the observations per gradient of the run | ≥ 2 |
/// | `every` | 100 | iterations between two looks at αₜ before that | ≥ 1 |
/// | `limit` | 10⁶ | iterations after which the threshold counts as out of reach | |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplingThreshold {
    /// Draws are kept from the first αₜ below this on.
    pub alpha: f64,
    /// n.
    pub minibatch: usize,
    /// Iterations between two looks.
    pub every: u64,
    /// Iterations after which the threshold counts as out of reach.
    pub limit: u64,
}

impl SamplingThreshold {
    /// The threshold 0.01 for minibatches of `minibatch` observations.
    pub fn new(minibatch: usize) -> Self {
        Self { alpha: 0.01, minibatch, every: 100, limit: 1_000_000 }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if !(self.alpha.is_finite() && self.alpha > 0.0) {
            return refuse("the sampling threshold", self.alpha.to_string(), "it must be a positive number");
        }
        if self.minibatch < 2 {
            let value = self.minibatch.to_string();
            return refuse(
                "the minibatch of the sampling threshold",
                value,
                "a covariance needs at least 2 observations",
            );
        }
        if self.every == 0 {
            return refuse("the interval of the sampling threshold", "0".into(), "look at most once an iteration");
        }
        Ok(())
    }

    /// αₜ where the chain is. The observations it looks at are a function of the iteration alone, and no part of the chain's
    /// randomness.
    pub(crate) fn measure(&self, kernel: &mut dyn Kernel) -> Result<f64> {
        let iteration = kernel.info().iterations;
        let theta = kernel.position().to_vec();
        let mut h = vec![0.0; theta.len()];
        kernel.step_sizes(&mut h);
        let evaluator = kernel.evaluator();
        let scheme = WithoutReplacement::new(self.minibatch);
        let mut batch = Minibatch::default();
        scheme.draw(&mut scheme.init(evaluator.observations())?, &mut StreamRng::seed_from_u64(iteration), &mut batch);
        let scores = scaled_scores(evaluator, &theta, &batch, &h)?;
        let (all, n) = (evaluator.observations() as f64, self.minibatch as f64);
        Ok(all * all / (4.0 * n) * largest_eigenvalue(&scores, theta.len()))
    }
}

/// H^{1/2}(sᵢ − s̄), one row per observation. The prior's part is the same in all scores and falls out.
fn scaled_scores(evaluator: &mut dyn Evaluator, theta: &[f64], batch: &Minibatch, h: &[f64]) -> Result<Vec<f64>> {
    let d = theta.len();
    let mut scores = vec![0.0; batch.rows.len() * d];
    evaluator.per_datum(theta, batch.as_rows()?, &mut scores)?;
    let mut mean = vec![0.0; d];
    for row in scores.chunks_exact(d) {
        mean.iter_mut().zip(row).for_each(|(mean, score)| *mean += score / batch.rows.len() as f64);
    }
    for row in scores.chunks_exact_mut(d) {
        for ((score, mean), h) in row.iter_mut().zip(&mean).zip(h) {
            *score = (*score - mean) * h.sqrt();
        }
    }
    Ok(scores)
}

/// The largest eigenvalue of XᵀX/(n − 1), rows of X centred, by power iteration.
fn largest_eigenvalue(x: &[f64], d: usize) -> f64 {
    let n = x.len() / d;
    // The longest row is not orthogonal to the leading eigenvector but by accident.
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let longest = x.chunks_exact(d).max_by(|a, b| norm(a).total_cmp(&norm(b))).unwrap_or(&[]);
    let mut v = longest.to_vec();
    let mut value = 0.0;
    for _ in 0..100 {
        let length = norm(&v);
        if length <= 0.0 || !length.is_finite() {
            return value;
        }
        v.iter_mut().for_each(|v| *v /= length);
        let mut next = vec![0.0; d];
        for row in x.chunks_exact(d) {
            let along: f64 = row.iter().zip(&v).map(|(x, v)| x * v).sum();
            next.iter_mut().zip(row).for_each(|(next, x)| *next += along * x / (n - 1) as f64);
        }
        let before = value;
        value = norm(&next);
        v = next;
        if (value - before).abs() <= 1e-9 * value {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_eigenvalue_of_a_known_matrix() {
        // XᵀX/(n − 1) = diag(2, 8) for these four centred rows.
        let r = 3.0_f64.sqrt();
        let x = [r, 0.0, -r, 0.0, 0.0, 2.0 * r, 0.0, -2.0 * r];
        assert!((largest_eigenvalue(&x, 2) - 8.0).abs() < 1e-8);
        assert!(largest_eigenvalue(&[0.0; 4], 2).abs() < 1e-300);
    }
}
