//! The mean of a correlated normal sample: xᵢ ~ N(θ, Λ⁻¹), θ ~ N(0, I/λ). The gradients are linear in θ, so the
//! discretized chains are linear and their laws are known.

use sgmcmc::AnalyticTree;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

use super::normals;

/// The precision λ of the prior.
const PRIOR_PRECISION: f64 = 0.5;

/// A correlated normal sample.
#[derive(Clone, Debug)]
pub struct Gaussian {
    x: Vec<f64>,
    /// The precision Λ of an observation, row-major.
    precision: Vec<f64>,
    dim: usize,
}

impl Gaussian {
    /// Simulates `n` observations in `dim` dimensions; neighboring dimensions are correlated.
    pub fn simulate(n: usize, dim: usize, seed: u64) -> Self {
        let precision = (0..dim * dim).map(|k| match (k / dim).abs_diff(k % dim) {
            0 => 1.0 + 0.2 * (k % dim) as f64,
            1 => -0.4,
            _ => 0.0,
        });
        Self { x: normals(n * dim, seed), precision: precision.collect(), dim }
    }

    /// Returns the posterior as a target.
    pub fn target(&self) -> AnalyticTree<Tensor<1>> {
        AnalyticTree::new(self.clone())
    }

    /// Returns the precision A = λI + NΛ of the posterior, row-major.
    pub fn posterior_precision(&self) -> Vec<f64> {
        let n = self.observations() as f64;
        let diagonal = |k: usize| if k / self.dim == k % self.dim { PRIOR_PRECISION } else { 0.0 };
        self.precision.iter().enumerate().map(|(k, value)| n * value + diagonal(k)).collect()
    }

    /// Returns the mean μ = A⁻¹ Λ Σ xᵢ of the posterior.
    pub fn posterior_mean(&self) -> Vec<f64> {
        let mut right = vec![0.0; self.dim];
        for x in self.x.chunks_exact(self.dim) {
            for (i, right) in right.iter_mut().enumerate() {
                *right += (0..self.dim).map(|j| self.precision[i * self.dim + j] * x[j]).sum::<f64>();
            }
        }
        crate::linear::solve(&self.posterior_precision(), &right)
    }

    /// Returns the sample covariance (divisor N − 1) of the gradients Λ(xᵢ − θ), which does not depend on θ; row-major.
    pub fn score_covariance(&self) -> Vec<f64> {
        let (n, d) = (self.observations(), self.dim);
        let mut gradients = vec![0.0; n * d];
        for (row, gradient) in gradients.chunks_exact_mut(d).enumerate() {
            self.observation(&vec![0.0; d], row, 1.0, gradient);
        }
        crate::linear::covariance(&gradients, d)
    }
}

impl AnalyticModel for Gaussian {
    fn observations(&self) -> usize {
        self.x.len() / self.dim
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let d = self.dim;
        let x = &self.x[row * d..(row + 1) * d];
        let mut value = 0.0;
        for (i, grad) in grad.iter_mut().enumerate() {
            let slope: f64 = (0..d).map(|j| self.precision[i * d + j] * (x[j] - theta[j])).sum();
            *grad += weight * slope;
            value -= 0.5 * (x[i] - theta[i]) * slope;
        }
        value
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad.iter_mut().zip(theta).for_each(|(grad, theta)| *grad -= PRIOR_PRECISION * theta);
        -0.5 * PRIOR_PRECISION * theta.iter().map(|theta| theta * theta).sum::<f64>()
    }
}
