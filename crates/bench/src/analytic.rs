//! Three workloads with value and gradient written by hand: what the library costs around a gradient.

use sgmcmc::prelude::*;

use crate::data;
use crate::workloads::{Mean, Size, Weights, covariates};

/// The workloads there are.
pub(crate) const NAMES: [&str; 3] = ["gauss2", "logistic_small", "logistic"];

pub(crate) fn gauss2(size: Size) -> Analytic<Mean> {
    Analytic::new(Gauss2 { x: data::normals(2 * size.observations, &mut data::generator()) })
}

pub(crate) fn gauss2_start() -> Mean {
    Mean { mu: zeros([2]) }
}

pub(crate) fn logistic(name: &str, size: Size) -> Analytic<Weights> {
    let covariates = covariates(name);
    let (x, y) = data::logistic(size.observations, covariates);
    Analytic::new(Logistic { x, y, covariates })
}

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
        let pull = weight * (y - 1.0 / (1.0 + (-z).exp()));
        grad[..d].iter_mut().zip(x).for_each(|(grad, x)| *grad += pull * f64::from(*x));
        grad[d] += pull;
        y * z - z.max(0.0) - (-z.abs()).exp().ln_1p()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        // The derivative of |β| at zero is zero, as automatic differentiation has it.
        grad.iter_mut()
            .zip(theta)
            .filter(|(_, theta)| **theta != 0.0)
            .for_each(|(grad, theta)| *grad -= theta.signum());
        -theta.iter().map(|theta| theta.abs()).sum::<f64>()
    }
}
