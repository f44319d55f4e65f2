//! Exact laws: on a Gaussian posterior the discretized chains are linear, so that mean and covariance of their stationary law are known,
//! minibatch noise included. Each law follows the rule of the algorithm as its paper states it.

mod consistency;
mod displacement;
mod geometry;
mod linear;
mod rules;
mod schedules;
mod thermostats;

use std::sync::Arc;

use rules::{
    SGHMC, SghmcSettings, baoab_law, by_name, sghmc_chain, sghmc_law, sgld_law, stationary_baoab, stationary_sghmc,
    stationary_sgld, tested,
};
use sgmcmc::AnalyticTree;
use sgmcmc::StepSize;
use sgmcmc::algorithms::{
    Badodab, Baoab, Chain, ChainSpec, Dynamics, GradientChain, NoiseEstimate, Sghmc, Sgld, Sgnht, Thermostats,
    TypedChain,
};
use sgmcmc::gradient::{ControlVariate, FullGradient, GradientEstimator, MinibatchGradient, Target};
use sgmcmc::minibatch::{WithReplacement, WithoutReplacement};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc_testkit::laws::{LinearChain, diagonal, distance_in_standard_errors, independent, isotropic};
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::logistic::Logistic;

const N: usize = 40;
const BATCH: usize = 8;

const SIZE: f64 = 0.01;
const TEMPERATURE: f64 = 1.3;

/// A problem, and the covariance of the noise of the gradient estimator under test.
struct Problem {
    model: Gaussian,
    d: usize,
    a: Vec<f64>,
    noise: Vec<f64>,
}

impl Problem {
    fn new(d: usize, noise_factor: f64) -> Self {
        let model = Gaussian::simulate(N, d, 7);
        let noise = model.score_covariance().iter().map(|v| noise_factor * v).collect();
        Self { a: model.posterior_precision(), noise, d, model }
    }

    /// ĝ = −A(θ − μ) + ξ, with θ measured from μ.
    fn g(&self, theta: &[f64], xi: &[f64]) -> Vec<f64> {
        let d = self.d;
        (0..d).map(|i| xi[i] - (0..d).map(|j| self.a[i * d + j] * theta[j]).sum::<f64>()).collect()
    }

    fn chain<D, G>(&self, recipe: &ChainSpec<D, G>, theta: &[f64], seed: u64) -> TypedChain<D, G>
    where
        G: GradientEstimator,
        D: Dynamics<G>,
    {
        let evaluator = AnalyticTree::<Named>::new(self.model.clone()).evaluator(&params(self.d)).unwrap();
        recipe.start(evaluator, theta, ChainRng::new(seed, 0)).unwrap()
    }
}

/// The first coordinate, the next two and the rest, as far as there are so many.
fn params(d: usize) -> Named {
    let sizes = [("first", d.min(1)), ("second", d.saturating_sub(1).min(2)), ("third", d.saturating_sub(3))];
    let present = sizes.into_iter().filter(|(_, size)| *size > 0);
    present.fold(Named::new(), |params, (name, size)| params.with(name, zeros([size])))
}

fn recipe<D, G>(dynamics: D, gradient: G, step_size: impl Into<StepSize>, temperature: f64) -> ChainSpec<D, G> {
    let (dynamics, gradient) = (Arc::new(dynamics), Arc::new(gradient));
    ChainSpec { dynamics, gradient, step_size: step_size.into(), temperature: temperature.into() }
}

/// Draws from the chain, rows of length d.
fn draws(chain: &mut dyn Chain, count: usize) -> Vec<f64> {
    for _ in 0..200 {
        chain.step().unwrap();
    }
    let mut rows = Vec::with_capacity(count * chain.position().len());
    for _ in 0..count {
        chain.step().unwrap();
        rows.extend_from_slice(chain.position());
    }
    rows
}

fn add(a: &[f64], b: &[f64], factor: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

/// Minibatches of n out of N without replacement: the variance of ĝ is N(N−n)/n · V.
fn minibatch_factor() -> f64 {
    (N * (N - BATCH)) as f64 / BATCH as f64
}

fn with_replacement_factor() -> f64 {
    (N * (N - 1)) as f64 / BATCH as f64
}

fn assert_stationary<D, G>(problem: &Problem, recipe: &ChainSpec<D, G>, expected: &[f64])
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let mean = problem.model.posterior_mean();
    let rows = draws(&mut problem.chain(recipe, &mean, 5), 60_000);
    let (mean, covariance) = distance_in_standard_errors(&rows, &mean, expected, 60);
    assert!(mean < 5.0, "the mean is {mean} standard errors off");
    assert!(covariance < 5.0, "the covariance is {covariance} standard errors off");
}

/// A few steps from a fixed θ, with the initial draws of the algorithm: mean and covariance of the displacement.
fn assert_displacement<D>(dynamics: D, h: impl Into<StepSize>, steps: usize, law: &LinearChain<'_>, start: &[f64])
where
    D: Dynamics<MinibatchGradient> + std::fmt::Debug,
{
    let problem = Problem::new(start.len(), minibatch_factor());
    let mean = problem.model.posterior_mean();
    let theta = add(&mean, start, 1.0);
    let gradient = MinibatchGradient::new(WithoutReplacement::new(BATCH));
    let recipe = recipe(dynamics, gradient, h, TEMPERATURE);
    let mut rows = Vec::new();
    for seed in 0..6000 {
        let mut chain = problem.chain(&recipe, &theta, seed);
        assert_eq!(chain.position(), theta, "starting moved the chain");
        for _ in 0..steps {
            chain.step().unwrap();
        }
        rows.extend(add(chain.position(), &mean, -1.0));
    }
    let expected = (law.update)(start, &vec![0.0; law.noise.len().isqrt()]);
    let (mean, covariance) = distance_in_standard_errors(&rows, &expected, &law.one_step_covariance(), 60);
    assert!(mean < 5.0 && covariance < 5.0, "off by {mean} and {covariance} standard errors");
}

const START: [f64; 2] = [0.3, -0.2];

/// The means of ξ and of A(θ − μ)² over a long run in one dimension.
fn long_run<D, G>(dynamics: D, gradient: G, h: f64, steps: u32) -> (f64, f64)
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let problem = Problem::new(1, 0.0);
    let mean = problem.model.posterior_mean()[0];
    let mut chain = problem.chain(&recipe(dynamics, gradient, h, 1.0), &[mean], 3);
    let (mut xi, mut square, mut thermostat) = (0.0, 0.0, [0.0]);
    for _ in 0..10_000 {
        chain.step().unwrap();
    }
    for _ in 0..steps {
        chain.step().unwrap();
        chain.stats(&mut thermostat);
        xi += thermostat[0];
        square += (chain.position()[0] - mean).powi(2);
    }
    (xi / f64::from(steps), square / f64::from(steps) * problem.a[0])
}
