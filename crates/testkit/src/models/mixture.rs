//! A mixture of two Gaussians in two dimensions: xᵢ ~ ½ N(θ₁, I) + ½ N(θ₂, I), θ₁, θ₂ ~ N(0, 10 I) (Baker 2019,
//! §4.6.1).

use rand::RngExt;
use sgmcmc::AnalyticTree;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

use super::{Case, Simulated, normals};
use crate::rng;

const PRIOR_VARIANCE: f64 = 10.0;

/// The parameters.
#[derive(TensorTree, Debug)]
pub struct Centers {
    /// The two centers.
    pub theta: [Tensor<1>; 2],
}

/// Returns the model as closures; the data are one tensor.
pub fn model() -> Model<Centers, Tensor<2>> {
    Model::new(|params: Centers, x: Tensor<2>| {
        let [a, b] = params.theta.map(|theta| {
            let offset = x.clone() - theta.unsqueeze_dim(0);
            offset.square().sum_dim(1).squeeze_dim::<1>(1) * -0.5
        });
        // log(½eᵃ + ½eᵇ) with the larger exponent factored out. The factor has no effect on the gradient.
        let largest = a.clone().max_pair(b.clone()).detach();
        let sum = (a - largest.clone()).exp() + (b - largest.clone()).exp();
        sum.log() + largest - 2.0_f64.ln()
    })
    .prior(|params: Centers| {
        let [a, b] = params.theta.map(|theta| theta.square().sum());
        (a + b) * (-0.5 / PRIOR_VARIANCE)
    })
}

/// The model with a hand-written gradient; the parameters are θ₁, θ₂.
#[derive(Debug)]
pub struct ByHand {
    x: Vec<f64>,
}

impl AnalyticModel for ByHand {
    fn observations(&self) -> usize {
        self.x.len() / 2
    }

    fn dim(&self) -> usize {
        4
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let x = &self.x[2 * row..2 * row + 2];
        let kernel = |theta: &[f64]| -0.5 * ((x[0] - theta[0]).powi(2) + (x[1] - theta[1]).powi(2));
        let (a, b) = (kernel(&theta[..2]), kernel(&theta[2..]));
        let share = 1.0 / (1.0 + (b - a).exp());
        for j in 0..2 {
            grad[j] += weight * share * (x[j] - theta[j]);
            grad[2 + j] += weight * (1.0 - share) * (x[j] - theta[2 + j]);
        }
        a.max(b) + (-(a - b).abs()).exp().ln_1p() - 2.0_f64.ln()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad.iter_mut().zip(theta).for_each(|(grad, theta)| *grad -= theta / PRIOR_VARIANCE);
        -0.5 * theta.iter().map(|theta| theta * theta).sum::<f64>() / PRIOR_VARIANCE
    }
}

/// This model as a test case.
#[derive(Debug)]
pub struct Mixture;

impl Case for Mixture {
    type Params = Centers;
    type Data = Tensor<2>;

    fn simulate(n: usize, seed: u64) -> Simulated<Centers, Tensor<2>> {
        let mut x = normals(2 * n, seed);
        let mut rng = rng(seed + 1);
        for point in x.chunks_exact_mut(2) {
            if rng.random_bool(0.5) {
                point.iter_mut().for_each(|x| *x += 1.5);
            }
        }
        let data = Dataset::new(array(x.clone(), [n, 2]).expect("x has n rows")).expect("simulated data are finite");
        Simulated {
            posterior: model().with(&data),
            by_hand: AnalyticTree::new(ByHand { x }),
            start: Centers { theta: [zeros([2]), ones([2])] },
        }
    }
}
