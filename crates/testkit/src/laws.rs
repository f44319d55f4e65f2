//! Exact laws of linear chains, and the comparison of draws with these laws.
//!
//! A chain with an update s ← f(s, e) that is linear in the state s and in independent noise e with mean zero and
//! covariance E has the stationary covariance Σ = F Σ Fᵀ + B E Bᵀ. F and B are obtained by applying f to unit vectors.
//! The law of an algorithm is therefore specified by one function f, independently of its implementation.

use crate::linear::{multiply, transpose};

/// An update f(s, e) that is linear in both arguments.
pub type Update<'a> = dyn Fn(&[f64], &[f64]) -> Vec<f64> + 'a;

/// A linear chain.
pub struct LinearChain<'a> {
    /// The length of the state s.
    pub state: usize,
    /// The covariance of the noise e, row-major.
    pub noise: Vec<f64>,
    /// The update f(s, e).
    pub update: &'a Update<'a>,
}

impl std::fmt::Debug for LinearChain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinearChain").field("state", &self.state).field("noise", &self.noise).finish_non_exhaustive()
    }
}

impl LinearChain<'_> {
    /// Returns the transition matrix F.
    fn transition(&self) -> Vec<f64> {
        let s = self.state;
        let columns: Vec<_> = (0..s).map(|k| (self.update)(&unit(s, k), &vec![0.0; self.noise_len()])).collect();
        (0..s * s).map(|k| columns[k % s][k / s]).collect()
    }

    /// Returns B E Bᵀ, the covariance of one step from a fixed state.
    pub fn one_step_covariance(&self) -> Vec<f64> {
        let (s, e) = (self.state, self.noise_len());
        let columns: Vec<_> = (0..e).map(|k| (self.update)(&vec![0.0; s], &unit(e, k))).collect();
        let entry = |i: usize, j: usize| {
            let pairs = (0..e * e).map(|k| columns[k / e][i] * self.noise[k] * columns[k % e][j]);
            pairs.sum::<f64>()
        };
        (0..s * s).map(|k| entry(k / s, k % s)).collect()
    }

    /// Returns the stationary covariance Σ, by repeated squaring: Σ ← Σ + F Σ Fᵀ, F ← F².
    pub fn stationary_covariance(&self) -> Vec<f64> {
        let s = self.state;
        let (mut f, mut sigma) = (self.transition(), self.one_step_covariance());
        for _ in 0..60 {
            let added = multiply(&multiply(&f, &sigma, s), &transpose(&f, s), s);
            sigma.iter_mut().zip(added).for_each(|(sigma, added)| *sigma += added);
            f = multiply(&f, &f, s);
        }
        sigma
    }

    /// Returns the length of the noise e.
    fn noise_len(&self) -> usize {
        self.noise.len().isqrt()
    }
}

/// Returns the unit vector k of length n.
fn unit(n: usize, k: usize) -> Vec<f64> {
    (0..n).map(|j| f64::from(u8::from(j == k))).collect()
}

/// Returns the block-diagonal covariance of independent blocks of noise.
pub fn independent(blocks: &[Vec<f64>]) -> Vec<f64> {
    let sizes: Vec<usize> = blocks.iter().map(|block| block.len().isqrt()).collect();
    let total: usize = sizes.iter().sum();
    let mut joined = vec![0.0; total * total];
    let mut start = 0;
    for (block, size) in blocks.iter().zip(sizes) {
        for (k, value) in block.iter().enumerate() {
            joined[(start + k / size) * total + start + k % size] = *value;
        }
        start += size;
    }
    joined
}

/// Returns the diagonal matrix of these variances.
pub fn diagonal(variances: &[f64]) -> Vec<f64> {
    let d = variances.len();
    (0..d * d).map(|k| if k / d == k % d { variances[k / d] } else { 0.0 }).collect()
}

/// Returns `variance` times the identity matrix of size `d`.
pub fn isotropic(variance: f64, d: usize) -> Vec<f64> {
    diagonal(&vec![variance; d])
}

/// Returns the distance between draws and a law in Monte Carlo standard errors, by batch means: the largest distance
/// over the means, and the largest distance over the entries of the covariance about the true mean.
///
/// `draws` holds rows of length d. The `batches` batches should be much longer than the autocorrelation time of the
/// chain.
pub fn distance_in_standard_errors(draws: &[f64], mean: &[f64], covariance: &[f64], batches: usize) -> (f64, f64) {
    let d = mean.len();
    let length = draws.len() / d / batches;
    let distance = |exact: f64, statistic: &dyn Fn(&[f64]) -> f64| {
        let means: Vec<f64> = draws
            .chunks_exact(length * d)
            .take(batches)
            .map(|batch| batch.chunks_exact(d).map(statistic).sum::<f64>() / length as f64)
            .collect();
        let average = means.iter().sum::<f64>() / batches as f64;
        let spread = means.iter().map(|m| (m - average).powi(2)).sum::<f64>() / (batches - 1) as f64;
        (average - exact).abs() / (spread / batches as f64).sqrt()
    };
    let mean_distance = (0..d).map(|j| distance(mean[j], &|row| row[j])).fold(0.0, f64::max);
    let covariance_distance = (0..d * d)
        .map(|k| {
            let (i, j) = (k / d, k % d);
            distance(covariance[k], &|row| (row[i] - mean[i]) * (row[j] - mean[j]))
        })
        .fold(0.0, f64::max);
    (mean_distance, covariance_distance)
}
