//! Three workloads with hand-written values and gradients, to measure the overhead of the library around a gradient.

use sgmcmc::AnalyticTree;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

use crate::bench::data;
use crate::bench::workloads::{Mean, Size, Weights, covariates};

/// The names of the workloads.
pub(crate) const NAMES: [&str; 3] = ["gauss2", "logistic_small", "logistic"];

/// Returns the workload `gauss2`.
pub(crate) fn gauss2(size: Size) -> AnalyticTree<Mean> {
    AnalyticTree::new(Gauss2 { x: data::normals(2 * size.observations, &mut data::generator()) })
}

/// Returns the start of `gauss2`.
pub(crate) fn gauss2_start() -> Mean {
    Mean { mu: zeros([2]) }
}

/// Returns the logistic regression called `name`.
pub(crate) fn logistic(name: &str, size: Size) -> AnalyticTree<Weights> {
    let covariates = covariates(name);
    let (x, y) = data::logistic(size.observations, covariates);
    AnalyticTree::new(Logistic { x, y, covariates })
}

/// Returns the start of the logistic regression called `name`.
pub(crate) fn logistic_start(name: &str) -> Weights {
    Weights { beta: zeros([covariates(name)]), bias: zeros([1]) }
}

/// xᵢ ~ N(μ, I), μ ~ N(0, 100 I).
struct Gauss2 {
    x: Vec<f32>,
}

impl AnalyticModel for Gauss2 {
    fn observations(&self) -> usize {
        self.x.len() / 2
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let x = &self.x[2 * row..2 * row + 2];
        let (a, b) = (f64::from(x[0]) - theta[0], f64::from(x[1]) - theta[1]);
        grad[0] += weight * a;
        grad[1] += weight * b;
        -0.5 * (a * a + b * b)
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad.iter_mut().zip(theta).for_each(|(grad, theta)| *grad -= theta / 100.0);
        -0.5 * theta.iter().map(|theta| theta * theta).sum::<f64>() / 100.0
    }
}

/// yᵢ ~ Bernoulli(σ(xᵢᵀβ + b)), b, βⱼ ~ Laplace(0, 1); the parameters are β, b.
struct Logistic {
    x: Vec<f32>,
    y: Vec<f32>,
    covariates: usize,
}

impl AnalyticModel for Logistic {
    fn observations(&self) -> usize {
        self.y.len()
    }

    fn dim(&self) -> usize {
        self.covariates + 1
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let d = self.covariates;
        let (x, y) = (&self.x[row * d..(row + 1) * d], f64::from(self.y[row]));
        let z = theta[d] + x.iter().zip(&theta[..d]).map(|(x, beta)| f64::from(*x) * beta).sum::<f64>();
        let residual = weight * (y - 1.0 / (1.0 + (-z).exp()));
        grad[..d].iter_mut().zip(x).for_each(|(grad, x)| *grad += residual * f64::from(*x));
        grad[d] += residual;
        y * z - z.max(0.0) - (-z.abs()).exp().ln_1p()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        // The derivative of |β| at zero is zero, as in automatic differentiation.
        grad.iter_mut()
            .zip(theta)
            .filter(|(_, theta)| **theta != 0.0)
            .for_each(|(grad, theta)| *grad -= theta.signum());
        -theta.iter().map(|theta| theta.abs()).sum::<f64>()
    }
}
