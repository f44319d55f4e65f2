//! Test models, one per file: closures, the same model with a hand-written gradient, and simulated data.

pub mod banana;
pub mod curved;
pub mod factorization;
pub mod gaussian;
pub mod logistic;
pub mod mixture;
pub mod network;
pub mod normal_mean;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::AnalyticTree;
use sgmcmc::{Posterior, TensorTree};

use crate::rng;

/// A model in both forms, on the same simulated data.
#[derive(Debug)]
pub struct Simulated<P, D> {
    /// The model as closures.
    pub posterior: Posterior<P, D>,
    /// The model with a hand-written gradient.
    pub by_hand: AnalyticTree<P>,
    /// Parameters of the right shapes.
    pub start: P,
}

/// Returns `n` standard normal numbers, a function of the seed.
pub fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n).map(|_| rng.sample(StandardNormal)).collect()
}

/// Adds the gradient of a standard normal log density and returns its value without the constant.
fn standard_normal_prior(theta: &[f64], grad: &mut [f64]) -> f64 {
    grad.iter_mut().zip(theta).for_each(|(grad, theta)| *grad -= theta);
    -0.5 * theta.iter().map(|theta| theta * theta).sum::<f64>()
}

/// A model for tests that run over all models.
pub trait Case {
    /// The parameters.
    type Params: TensorTree;
    /// The observations.
    type Data: TensorTree;
    /// Returns the model on `n` simulated observations.
    fn simulate(n: usize, seed: u64) -> Simulated<Self::Params, Self::Data>;
}
