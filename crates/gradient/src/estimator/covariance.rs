//! The covariance of the noise of a gradient estimator at a point.
//!
//! A gradient estimate is a constant plus Σ_{i∈S} bᵢ with bᵢ = wᵢ aᵢ. With m terms b from one or more minibatches of n
//! observations, the covariance is estimated by f · n/(m − 1) · Σ (bᵢ − b̄)(bᵢ − b̄)ᵀ. The factor f is 1 − n/N if the
//! observations of a minibatch are distinct, and 1 otherwise. Weights 1/(n pᵢ) are part of bᵢ.

use rand::SeedableRng;
use sgmcmc_numerics::vector::{add_scaled, dot, scale};

use super::GradientEstimator;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::layout::Split;
use crate::minibatch::Minibatch;
use crate::rng::StreamRng;
use crate::settings;

/// The covariance V of a gradient estimator at a point, stored as a matrix X with V = XᵀX.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{GradientEstimator, MinibatchGradient, NoiseCovariance};
/// use sgmcmc::minibatch::WithReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithReplacement::new(10));
/// let state = estimator.init(&[0.0], evaluator.as_mut())?;
/// let noise = NoiseCovariance::measure(&estimator, &state, evaluator.as_mut(), &[0.0], 2000, 1)?;
/// // The variance is N²/n times the variance of 0, 1, …, 99.
/// assert!((noise.variances()[0] / (1000.0 * 833.25) - 1.0).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoiseCovariance {
    dim: usize,
    /// The matrix X in row-major order.
    rows: Vec<f64>,
}

/// The largest eigenvalue of a symmetric matrix, and its eigenvector.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{GradientEstimator, MinibatchGradient, NoiseCovariance};
/// use sgmcmc::minibatch::WithReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithReplacement::new(10));
/// let state = estimator.init(&[0.0], evaluator.as_mut())?;
/// let noise = NoiseCovariance::measure(&estimator, &state, evaluator.as_mut(), &[0.0], 2000, 1)?;
/// let leading = noise.leading_eigenpair();
/// assert!((leading.direction[0].abs() - 1.0).abs() < 1e-9 && leading.value > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeadingEigenpair {
    /// The eigenvalue, the value of the quadratic form in the direction of the eigenvector.
    pub value: f64,
    /// The eigenvector, of norm one. It is empty if the matrix is zero.
    pub direction: Vec<f64>,
}

impl NoiseCovariance {
    /// Estimates the covariance at `theta` from new minibatches with at least `observations` terms in total. The
    /// minibatches depend only on `seed`, and `state` does not change.
    ///
    /// # Errors
    ///
    /// Returns the error of the estimator or the model.
    pub fn measure<G: GradientEstimator>(
        estimator: &G,
        state: &G::State,
        evaluator: &mut dyn Evaluator,
        theta: &[f64],
        observations: usize,
        seed: u64,
    ) -> Result<Self> {
        let mut rng = StreamRng::seed_from_u64(seed);
        let (mut batch, mut terms, mut rows) = (Minibatch::default(), Vec::new(), Vec::new());
        let (mut size, mut count) = (0, 0);
        while count < observations.max(2) {
            estimator.draw_independent(evaluator.observations(), &mut rng, &mut batch)?;
            estimator.noise_terms(state, theta, evaluator, &batch, &mut terms)?;
            if terms.is_empty() {
                break;
            }
            apply_weights(&mut terms, &batch, theta.len());
            (size, count) = (batch.rows.len(), count + batch.rows.len());
            rows.append(&mut terms);
        }
        let mut noise = Self { dim: theta.len(), rows };
        noise.finish(size, evaluator.observations(), estimator.has_distinct_observations());
        Ok(noise)
    }

    /// Estimates the covariance at `theta` from the terms of `batch`. The allocation of the last estimate is reused.
    ///
    /// # Errors
    ///
    /// Returns an error if the minibatch has fewer than 2 observations, or the error of the estimator or the model.
    pub fn measure_batch<G: GradientEstimator>(
        &mut self,
        estimator: &G,
        state: &G::State,
        evaluator: &mut dyn Evaluator,
        theta: &[f64],
        batch: &Minibatch,
    ) -> Result<()> {
        self.dim = theta.len();
        estimator.noise_terms(state, theta, evaluator, batch, &mut self.rows)?;
        if self.rows.is_empty() {
            return Ok(());
        }
        let expected = "the covariance of its gradients needs at least 2 observations";
        settings::at_least("the minibatch", batch.rows.len(), 2, expected)?;
        apply_weights(&mut self.rows, batch, theta.len());
        self.finish(batch.rows.len(), evaluator.observations(), estimator.has_distinct_observations());
        Ok(())
    }

    /// Centers the terms and scales them so that XᵀX is the covariance of a sum of `size` of them.
    fn finish(&mut self, size: usize, observations: usize, distinct: bool) {
        let (dim, count) = (self.dim.max(1), self.rows.len() / self.dim.max(1));
        if count < 2 {
            self.rows.clear();
            return;
        }
        let factor = if distinct { 1.0 - size as f64 / observations as f64 } else { 1.0 };
        let root = (factor.max(0.0) * size as f64 / (count - 1) as f64).sqrt();
        for j in 0..dim {
            let mean = self.rows.iter().skip(j).step_by(dim).sum::<f64>() / count as f64;
            self.rows.iter_mut().skip(j).step_by(dim).for_each(|x| *x = root * (*x - mean));
        }
    }

    /// Returns the number of rows of X.
    pub fn len(&self) -> usize {
        self.rows.len() / self.dim.max(1)
    }

    /// Returns `true` if the estimator has no noise.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the variance of each coordinate, the diagonal of V.
    pub fn variances(&self) -> Vec<f64> {
        let mut variances = vec![0.0; self.dim];
        self.add_variances(1.0, &mut variances);
        variances
    }

    /// Adds `share` times the diagonal of V to `out`.
    pub fn add_variances(&self, share: f64, out: &mut [f64]) {
        for row in self.rows.chunks_exact(self.dim.max(1)) {
            out.iter_mut().zip(row).for_each(|(out, x)| *out += share * x * x);
        }
    }

    /// Adds `share` times the lower triangle of V to `out`, a row-major matrix with d rows.
    pub fn add_lower(&self, share: f64, out: &mut [f64]) {
        for row in self.rows.chunks_exact(self.dim.max(1)) {
            for (i, entries) in out.chunks_exact_mut(self.dim.max(1)).enumerate() {
                add_scaled(&mut entries[..=i], share * row[i], &row[..=i]);
            }
        }
    }

    /// Applies `change` to each row of X. A linear map S changes V to S V Sᵀ.
    ///
    /// # Errors
    ///
    /// Returns the first error of `change`.
    pub fn transform(&mut self, mut change: impl FnMut(&mut [f64]) -> Result<()>) -> Result<()> {
        self.rows.chunks_exact_mut(self.dim.max(1)).try_for_each(&mut change)
    }

    /// Keeps only the free coordinates of `split`.
    pub(super) fn restrict(&mut self, split: &Split) {
        let free: Vec<f64> = self.rows.chunks_exact(self.dim.max(1)).flat_map(|row| split.free(row)).collect();
        (self.rows, self.dim) = (free, split.layout().dim());
    }

    /// Returns uᵀ V u.
    pub fn along(&self, u: &[f64]) -> f64 {
        self.rows.chunks_exact(self.dim.max(1)).map(|row| dot(row, u).powi(2)).sum()
    }

    /// Returns the largest eigenvalue of V and its eigenvector.
    ///
    /// The largest eigenvalue of a sample covariance is biased upward, and the bias grows with the dimension. The
    /// eigenvalue is therefore estimated by twofold cross-validation: each half of the rows gives a direction, and the
    /// other half the value of the quadratic form in that direction.
    pub fn leading_eigenpair(&self) -> LeadingEigenpair {
        let dim = self.dim.max(1);
        if self.len() < 4 {
            return leading(&self.rows, dim);
        }
        let half = |parity: usize| -> Vec<f64> {
            self.rows.chunks_exact(dim).skip(parity).step_by(2).flatten().copied().collect()
        };
        let halves = [half(0), half(1)];
        let value = |fitted: &[f64], held_out: &[f64]| {
            let direction = leading(fitted, dim).direction;
            let sum: f64 = held_out.chunks_exact(dim).map(|row| dot(row, &direction).powi(2)).sum();
            sum * self.len() as f64 / (held_out.len() / dim) as f64
        };
        let mean = 0.5 * (value(&halves[0], &halves[1]) + value(&halves[1], &halves[0]));
        LeadingEigenpair { value: mean, direction: leading(&self.rows, dim).direction }
    }
}

/// Multiplies each row of `terms` by the weight of its observation.
fn apply_weights(terms: &mut [f64], batch: &Minibatch, dim: usize) {
    terms.chunks_exact_mut(dim.max(1)).enumerate().for_each(|(position, row)| scale(row, batch.weight(position)));
}

/// The maximum number of power iterations.
const ITERATIONS: usize = 100;

/// Returns the largest eigenvalue of XᵀX and its eigenvector, by power iteration.
fn leading(x: &[f64], dim: usize) -> LeadingEigenpair {
    // The longest row is a good start: it is rarely orthogonal to the leading eigenvector.
    let longest = x.chunks_exact(dim).max_by(|a, b| dot(a, a).total_cmp(&dot(b, b))).unwrap_or(&[]);
    let mut found = LeadingEigenpair { value: 0.0, direction: Vec::new() };
    let mut v = longest.to_vec();
    for _ in 0..ITERATIONS {
        let length = dot(&v, &v).sqrt();
        if length <= 0.0 || !length.is_finite() {
            break;
        }
        scale(&mut v, 1.0 / length);
        let mut next = vec![0.0; dim];
        x.chunks_exact(dim).for_each(|row| add_scaled(&mut next, dot(row, &v), row));
        let (before, value) = (found.value, dot(&next, &v));
        found = LeadingEigenpair { value, direction: std::mem::replace(&mut v, next) };
        if (value - before).abs() <= 1e-9 * value {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_distr::StandardNormal;

    #[test]
    fn leading_eigenvalue_of_a_known_matrix() {
        // XᵀX = diag(6, 24).
        let r = 3.0_f64.sqrt();
        let x = [r, 0.0, -r, 0.0, 0.0, 2.0 * r, 0.0, -2.0 * r];
        let found = leading(&x, 2);
        assert!((found.value - 24.0).abs() < 1e-7 && found.direction[1].abs() > 1.0 - 1e-6, "{found:?}");
        assert!(leading(&[0.0; 4], 2).value.abs() < 1e-300);
    }

    /// For 200 rows of 50 independent normals the eigenvalue of the sample covariance is (1 + √(50/200))² = 2.25.
    #[test]
    fn largest_eigenvalue_is_not_overestimated() {
        let mut rng = StreamRng::seed_from_u64(5);
        let rows = (0..200 * 50).map(|_| rng.sample::<f64, _>(StandardNormal) / 200.0_f64.sqrt()).collect();
        let noise = NoiseCovariance { dim: 50, rows };
        assert!(leading(&noise.rows, 50).value > 1.8);
        let value = noise.leading_eigenpair().value;
        assert!((0.8..1.25).contains(&value), "{value}");
    }
}
