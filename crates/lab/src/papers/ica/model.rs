//! Independent component analysis with a hand-written gradient, its natural gradient, and simulated data.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::algorithms::Metric;
use sgmcmc::data::Rows;
use sgmcmc::gradient::{AnalyticModel, Evaluator};
use sgmcmc::numerics::Cholesky;
use sgmcmc::numerics::vector::dot;
use sgmcmc::rng::StreamRng;

use crate::Result;

/// The number of observations.
pub const N: usize = 1000;
/// The number of channels.
pub const K: usize = 6;
/// The number of observations in a minibatch.
pub const MINIBATCH: usize = 100;

/// Simulated observations and their mixing matrix.
pub struct Simulated {
    pub x: Vec<f64>,
    pub mixing: Vec<f64>,
}

impl Simulated {
    /// Simulates the observations. The first three sources are cubes of normal numbers divided by √15, with variance
    /// one and high kurtosis.
    pub fn new(seed: u64) -> Self {
        let mut rng = StreamRng::seed_from_u64(seed);
        let mixing: Vec<f64> = (0..K * K).map(|_| rng.sample(StandardNormal)).collect();
        let mut x = vec![0.0; N * K];
        for x in x.chunks_exact_mut(K) {
            let source: Vec<f64> = (0..K)
                .map(|k| {
                    let z: f64 = rng.sample(StandardNormal);
                    if k < 3 { z.powi(3) / 15.0_f64.sqrt() } else { z }
                })
                .collect();
            mixing.chunks_exact(K).zip(x).for_each(|(row, x)| *x = dot(row, &source));
        }
        Self { x, mixing }
    }

    /// Returns the second moments of the channels.
    pub fn covariance(&self) -> Vec<f64> {
        let entry = |i: usize, j: usize| self.x.chunks_exact(K).map(|x| x[i] * x[j]).sum::<f64>() / N as f64;
        (0..K * K).map(|k| entry(k / K, k % K)).collect()
    }

    /// Returns L⁻¹, where L Lᵀ is the covariance. It maps the channels to uncorrelated ones with variance one.
    ///
    /// # Errors
    ///
    /// Returns an error if the covariance is singular.
    pub fn whitening(&self) -> Result<Vec<f64>> {
        let factor = Cholesky::new(&self.covariance(), K)?;
        let mut whitening = vec![0.0; K * K];
        for j in 0..K {
            let mut column = [0.0; K];
            column[j] = 1.0;
            factor.solve_lower(&mut column);
            (0..K).for_each(|i| whitening[i * K + j] = column[i]);
        }
        Ok(whitening)
    }
}

/// The model; the observations are shared by the evaluators of all chains.
#[derive(Clone)]
pub struct Ica(pub Arc<[f64]>);

impl AnalyticModel for Ica {
    fn observations(&self) -> usize {
        N
    }

    fn dim(&self) -> usize {
        K * K
    }

    fn observation(&self, w: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let x = &self.0[row * K..(row + 1) * K];
        let mut value = 0.0;
        for (w, grad) in w.chunks_exact(K).zip(grad.chunks_exact_mut(K)) {
            let y = dot(w, x);
            // tanh(y/2) and −log(4 cosh²(y/2)) from one exponential that cannot overflow.
            let small = (-y.abs()).exp();
            let slope = weight * ((1.0 - small) / (1.0 + small)).copysign(y);
            grad.iter_mut().zip(x).for_each(|(grad, x)| *grad -= slope * x);
            value -= y.abs() + 2.0 * small.ln_1p();
        }
        value
    }

    /// Returns the log prior of W plus N log|det W|, which does not depend on the observations.
    fn prior(&self, w: &[f64], grad: &mut [f64]) -> f64 {
        let (inverse, log_determinant) = inverted(w);
        for (k, grad) in grad.iter_mut().enumerate() {
            *grad += N as f64 * inverse[k % K * K + k / K] - w[k];
        }
        N as f64 * log_determinant - 0.5 * dot(w, w)
    }
}

/// Returns W⁻¹ and log|det W|, by Gaussian elimination with partial pivoting.
fn inverted(w: &[f64]) -> (Vec<f64>, f64) {
    let mut left = w.to_vec();
    let mut right: Vec<f64> = (0..K * K).map(|k| f64::from(u8::from(k / K == k % K))).collect();
    let mut log_determinant = 0.0;
    for column in 0..K {
        let pivot = (column..K)
            .max_by(|a, b| left[a * K + column].abs().total_cmp(&left[b * K + column].abs()))
            .unwrap_or(column);
        for j in 0..K {
            left.swap(column * K + j, pivot * K + j);
            right.swap(column * K + j, pivot * K + j);
        }
        let scale = left[column * K + column];
        log_determinant += scale.abs().ln();
        for j in 0..K {
            left[column * K + j] /= scale;
            right[column * K + j] /= scale;
        }
        for i in (0..K).filter(|i| *i != column) {
            let factor = left[i * K + column];
            for j in 0..K {
                left[i * K + j] -= factor * left[column * K + j];
                right[i * K + j] -= factor * right[column * K + j];
            }
        }
    }
    (right, log_determinant)
}

/// Returns WᵀW.
fn gram(w: &[f64]) -> Vec<f64> {
    (0..K * K).map(|k| (0..K).map(|i| w[i * K + k / K] * w[i * K + k % K]).sum()).collect()
}

/// Returns the metric M = I ⊗ WᵀW with Γ = (d + 1) W.
pub fn natural() -> Metric {
    Metric::dense(|w, m| {
        let gram = gram(w);
        m.fill(0.0);
        for i in 0..K {
            for (k, value) in gram.iter().enumerate() {
                m[(i * K + k / K) * K * K + i * K + k % K] = *value;
            }
        }
    })
    .with_gamma(|w, gamma| gamma.iter_mut().zip(w).for_each(|(gamma, w)| *gamma = (K + 1) as f64 * w))
}

/// Returns the sampling threshold α = h N²/(4n) λ_max(M^{1/2} V M^{1/2}), where V is the covariance of the scores over
/// n observations.
///
/// # Errors
///
/// Returns an error if W is singular or an evaluation fails.
pub fn threshold(evaluator: &mut dyn Evaluator, w: &[f64], h: f64) -> Result<f64> {
    let factor = Cholesky::new(&gram(w), K)?;
    let d = K * K;
    let mut scores = vec![0.0; MINIBATCH * d];
    evaluator.gradient_per_observation(w, Rows::range(0..MINIBATCH), &mut scores)?;
    let mut turned = vec![0.0; K];
    for row in scores.chunks_exact_mut(K) {
        factor.transpose_product(row, &mut turned);
        row.copy_from_slice(&turned);
    }
    let mean: Vec<f64> = (0..d).map(|j| scores.iter().skip(j).step_by(d).sum::<f64>() / MINIBATCH as f64).collect();
    scores.chunks_exact_mut(d).for_each(|row| row.iter_mut().zip(&mean).for_each(|(score, mean)| *score -= mean));
    let (mut v, mut largest) = (vec![1.0; d], 0.0);
    for _ in 0..200 {
        let mut next = vec![0.0; d];
        for row in scores.chunks_exact(d) {
            sgmcmc::numerics::vector::add_scaled(&mut next, dot(row, &v) / (MINIBATCH - 1) as f64, row);
        }
        largest = dot(&next, &next).sqrt();
        v = next.iter().map(|next| next / largest.max(f64::MIN_POSITIVE)).collect();
    }
    Ok(h * (N * N) as f64 / (4 * MINIBATCH) as f64 * largest)
}
