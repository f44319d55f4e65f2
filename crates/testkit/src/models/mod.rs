//! One model per file: closures, the same by hand, and simulated data for both.

pub mod banana;
pub mod curved;
pub mod factorisation;
pub mod gaussian;
pub mod logistic;
pub mod mixture;
pub mod network;
pub mod normal_mean;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::{Analytic, Posterior, TensorTree};

use crate::rng;

/// A model in both forms, on the same simulated data.
#[derive(Debug)]
pub struct Simulated<P, D> {
    /// As closures.
    pub posterior: Posterior<P, D>,
    /// By hand.
    pub by_hand: Analytic<P>,
    /// Parameters of the right shape.
    pub start: P,
}

/// `n` standard normal numbers, a function of the seed: points to evaluate gradients at.
pub fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n).map(|_| rng.sample(StandardNormal)).collect()
}

/// Adds the gradient of a standard normal log density and returns its value without the constant.
fn standard_normal_prior(theta: &[f64], grad: &mut [f64]) -> f64 {
    grad.iter_mut().zip(theta).for_each(|(grad, theta)| *grad -= theta);
    -0.5 * theta.iter().map(|theta| theta * theta).sum::<f64>()
}

/// Everything a test over all models needs of one.
pub trait Case {
    /// The parameters.
    type Params: TensorTree;
    /// The observations.
    type Data: TensorTree;
    /// The model on `n` simulated observations.
    fn simulate(n: usize, seed: u64) -> Simulated<Self::Params, Self::Data>;
}
