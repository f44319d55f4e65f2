//! The mean of a normal sample: xᵢ ~ N(θ, 1), θ ~ N(0, 10²). The posterior is known in closed form.

use sgmcmc::AnalyticTree;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

use super::{Case, Simulated, normals};

const PRIOR_PRECISION: f64 = 0.01;

/// Returns the model as closures.
pub fn model() -> Model<Tensor<1>, Tensor<1>> {
    Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5)
        .prior(|theta: Tensor<1>| theta.square() * (-0.5 * PRIOR_PRECISION))
}

/// The model with a hand-written gradient.
#[derive(Debug)]
pub struct ByHand {
    /// The observations.
    pub x: Vec<f64>,
}

impl AnalyticModel for ByHand {
    fn observations(&self) -> usize {
        self.x.len()
    }

    fn dim(&self) -> usize {
        1
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let residual = self.x[row] - theta[0];
        grad[0] += weight * residual;
        -0.5 * residual * residual
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad[0] -= PRIOR_PRECISION * theta[0];
        -0.5 * PRIOR_PRECISION * theta[0] * theta[0]
    }
}

/// This model as a test case.
#[derive(Debug)]
pub struct NormalMean;

impl Case for NormalMean {
    type Params = Tensor<1>;
    type Data = Tensor<1>;

    fn simulate(n: usize, seed: u64) -> Simulated<Tensor<1>, Tensor<1>> {
        let x = normals(n, seed);
        let data = Dataset::new(array(x.clone(), [n]).expect("x has n rows")).expect("simulated data are finite");
        Simulated { posterior: model().with(&data), by_hand: AnalyticTree::new(ByHand { x }), start: zeros([1]) }
    }
}
