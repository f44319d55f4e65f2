//! Runs of one and of several chains: draws, starts, resumption, settings, and failures.

mod algorithms;
mod draws;
mod every_algorithm;
mod failures;
mod settings;
mod starts;
mod threshold;

use std::fmt::Debug;
use std::sync::Arc;

use sgmcmc::algorithms::{Chain, ChainSpec, Dynamics, GradientChain};
use sgmcmc::gradient::{GradientEstimator, Target};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc::schedule::PerParameter;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::{self, Logistic};

/// Returns frictions by name for both parameters of the logistic regression, so that the common value is not used.
fn by_name(bias: f64, beta: f64) -> PerParameter<f64> {
    PerParameter::from(0.9).parameter("bias", bias).parameter("beta", beta)
}

fn start_chain<D, G>(dynamics: D, gradient: G, seed: u64) -> impl GradientChain
where
    G: GradientEstimator + Debug,
    D: Dynamics<G> + Debug,
{
    let simulated = Logistic::simulate(60, 1);
    let recipe = ChainSpec {
        dynamics: Arc::new(dynamics),
        gradient: Arc::new(gradient),
        step_size: StepSize::from(1e-3).parameter("bias", 5e-4),
        temperature: 1.0.into(),
    };
    let evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    recipe.start(evaluator, &[0.1; 6], ChainRng::new(seed, 0)).unwrap()
}

fn path(chain: &mut dyn Chain, steps: usize) -> Vec<Vec<f64>> {
    (0..steps)
        .map(|_| {
            chain.step().unwrap();
            chain.position().to_vec()
        })
        .collect()
}

fn logistic_data(n: usize) -> Dataset<logistic::Observations> {
    Logistic::simulate(n, 1).posterior.data().clone()
}

fn logistic_start() -> logistic::Weights {
    Logistic::simulate(2, 1).start
}
