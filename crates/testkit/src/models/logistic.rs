//! Logistic regression with a Laplace prior: yᵢ ~ Bernoulli(σ(b + xᵢᵀβ)), b, βⱼ ~ Laplace(0, 1).

use rand::RngExt;
use sgmcmc::AnalyticTree;
use sgmcmc::burn::activation::log_sigmoid;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

use super::{Case, Simulated, normals};
use crate::rng;

/// The number of covariates.
pub const COVARIATES: usize = 5;

/// The parameters.
#[derive(TensorTree, Debug)]
pub struct Weights {
    /// The intercept b.
    pub bias: Tensor<1>,
    /// The coefficients β.
    pub beta: Tensor<1>,
}

/// The observations.
#[derive(TensorTree, Debug)]
pub struct Observations {
    /// The covariates, one row per observation.
    pub x: Tensor<2>,
    /// The response, zero or one.
    pub y: Tensor<1>,
}

/// Returns the model as closures.
pub fn model() -> Model<Weights, Observations> {
    Model::new(|w: Weights, r: Observations| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        // log σ(z) where y = 1 and log σ(−z) where y = 0: the sign of z is 2y − 1.
        log_sigmoid(logits * (r.y * 2.0 - 1.0))
    })
    .prior(|w: Weights| (w.beta.abs().sum() + w.bias.abs().sum()).neg())
}

/// The model with a hand-written gradient; the parameters are b, β₁, …, β₅.
#[derive(Debug)]
pub struct ByHand {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl AnalyticModel for ByHand {
    fn observations(&self) -> usize {
        self.y.len()
    }

    fn dim(&self) -> usize {
        1 + COVARIATES
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let x = &self.x[row * COVARIATES..(row + 1) * COVARIATES];
        let z = theta[0] + x.iter().zip(&theta[1..]).map(|(x, beta)| x * beta).sum::<f64>();
        let residual = self.y[row] - 1.0 / (1.0 + (-z).exp());
        grad[0] += weight * residual;
        grad[1..].iter_mut().zip(x).for_each(|(grad, x)| *grad += weight * residual * x);
        self.y[row] * z - z.max(0.0) - (-z.abs()).exp().ln_1p()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad.iter_mut().zip(theta).for_each(|(grad, theta)| *grad -= theta.signum());
        -theta.iter().map(|theta| theta.abs()).sum::<f64>()
    }
}

/// This model as a test case.
#[derive(Debug)]
pub struct Logistic;

impl Case for Logistic {
    type Params = Weights;
    type Data = Observations;

    fn simulate(n: usize, seed: u64) -> Simulated<Weights, Observations> {
        let x = normals(n * COVARIATES, seed);
        let mut rng = rng(seed + 1);
        let truth = [0.3, 1.0, -0.5, 0.25, 0.0, -1.0];
        let success = |row: &[f64]| {
            let z = truth[0] + row.iter().zip(&truth[1..]).map(|(x, beta)| x * beta).sum::<f64>();
            1.0 / (1.0 + (-z).exp())
        };
        let y: Vec<f64> =
            x.chunks_exact(COVARIATES).map(|row| f64::from(u8::from(rng.random_bool(success(row))))).collect();
        let observations = Observations {
            x: array(x.clone(), [n, COVARIATES]).expect("x has n rows"),
            y: array(y.clone(), [n]).expect("y has n rows"),
        };
        Simulated {
            posterior: model().with(&Dataset::new(observations).expect("simulated data are finite")),
            by_hand: AnalyticTree::new(ByHand { x, y }),
            start: Weights { bias: zeros([1]), beta: zeros([COVARIATES]) },
        }
    }
}
