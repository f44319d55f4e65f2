//! Methods that accept or reject: their law is the posterior at any step size, and some are equal to others for special settings.

mod equivalence;
mod posterior;
mod quasi_newton;
mod settings;
mod transitions;

use std::fmt::Debug;
use std::sync::Arc;

use quasi_newton::{LIMITED, published, qnhmc_of};
use sgmcmc::algorithms::{
    Adaptation, Covariance, DualAveraging, Hmc, HmcBfgs, InitialScale, InverseHessian, Mala, Metric, Qnhmc,
    RiemannianMala,
};
use sgmcmc::algorithms::{Chain, ChainSpec, Dynamics, TypedChain};
use sgmcmc::data::Rows;
use sgmcmc::diagnostics::distance::{ks_one_sample, ks_p_value};
use sgmcmc::diagnostics::ess_mean;
use sgmcmc::gradient::FullGradient;
use sgmcmc::gradient::{AnalyticModel, Target};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::curved::Curved;
use sgmcmc_testkit::models::logistic::Logistic;

fn chain<D: Dynamics<FullGradient>>(
    dynamics: D,
    model: &Curved,
    h: f64,
    temperature: f64,
    seed: u64,
) -> TypedChain<D, FullGradient> {
    let recipe = ChainSpec {
        dynamics: Arc::new(dynamics),
        gradient: Arc::new(FullGradient),
        step_size: h.into(),
        temperature: temperature.into(),
    };
    let start = vec![0.1; model.dim()];
    let evaluator = model.target().evaluator(&array(start.clone(), [model.dim()]).unwrap()).unwrap();
    recipe.start(evaluator, &start, ChainRng::new(seed, 0)).unwrap()
}

fn normal_distribution(x: f64) -> f64 {
    // By the complementary error function of Abramowitz & Stegun 7.1.26, good to 1.5e-7.
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let tail = 0.5 * series.iter().rev().fold(0.0, |sum, c| (sum + c) * t) * (-z * z).exp();
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// A p-value below this fails; there are some hundred of them in these tests, so that a right sampler would fail for one seed in a hundred.
const FALSE_ALARM: f64 = 1e-4;

/// Draws per test.
const DRAWS: usize = 4000;

/// Fewer effective draws than this tell too little; most tests have some thousand.
const LEAST_EFFECTIVE: f64 = 200.0;

/// Thinned draws, as the numbers that should be standard normal, one series each, and the sum of all of them.
fn standardized(chain: &mut dyn Chain, model: &Curved, warm_up: usize, thin: usize) -> Vec<Vec<f64>> {
    let d = model.dim();
    let mut series = vec![Vec::with_capacity(DRAWS); d + 1];
    (0..warm_up).for_each(|_| chain.step().unwrap());
    for _ in 0..DRAWS {
        (0..thin).for_each(|_| chain.step().unwrap());
        let u = model.standard(chain.position());
        series[d].push(u.iter().sum::<f64>() / (d as f64).sqrt());
        series.iter_mut().zip(u).for_each(|(series, u)| series.push(u));
    }
    series
}

/// The p-values of a sampler on a density; chains remember, so that draws count by their effective size.
fn p_values(chain: &mut dyn Chain, model: &Curved, warm_up: usize, thin: usize, sd: f64) -> Vec<f64> {
    let name = format!("{chain:?}").chars().take(160).collect::<String>();
    let series = standardized(chain, model, warm_up, thin);
    let p_value = |series: &Vec<f64>| {
        let size = ess_mean(&[series]).min(DRAWS as f64);
        assert!(size > LEAST_EFFECTIVE, "{model:?}, {name}: {size} effective draws are too few to tell");
        ks_p_value(ks_one_sample(series, |x| normal_distribution(x / sd)).statistic, size)
    };
    series.iter().map(p_value).collect()
}

fn assert_law<D: Dynamics<FullGradient> + Debug>(dynamics: D, model: &Curved, h: f64, warm_up: usize, thin: usize) {
    let name = format!("{dynamics:?}");
    let p = p_values(&mut chain(dynamics, model, h, 1.0, 11), model, warm_up, thin, 1.0);
    assert!(p.iter().all(|p| *p > FALSE_ALARM), "{name} on {model:?}: p-values {p:?}");
}

/// A covariance that is neither the identity nor the covariance.
fn dense() -> Covariance {
    Covariance::dense(&[2.0, 0.7, 0.7, 1.0]).unwrap()
}

fn hmc_of(steps: u32) -> Hmc {
    Hmc { steps, jitter: 0.3, ..Hmc::default() }
}

/// I + 0.3 θθᵀ, of which Γ is 0.9 θ.
fn growing() -> Metric {
    Metric::dense(|theta, m| {
        let entry = |k: usize| f64::from(u8::from(k / 2 == k % 2)) + 0.3 * theta[k / 2] * theta[k % 2];
        (0..4).for_each(|k| m[k] = entry(k));
    })
}

/// A chain on a logistic regression with a step size of its own for the bias.
fn logistic<D: Dynamics<FullGradient>>(dynamics: D, seed: u64) -> TypedChain<D, FullGradient> {
    let simulated = Logistic::simulate(60, 1);
    let recipe = ChainSpec {
        dynamics: Arc::new(dynamics),
        gradient: Arc::new(FullGradient),
        step_size: StepSize::from(0.15).parameter("bias", 0.3),
        temperature: 1.2.into(),
    };
    recipe.start(simulated.by_hand.evaluator(&simulated.start).unwrap(), &[0.1; 6], ChainRng::new(seed, 0)).unwrap()
}

fn path(chain: &mut dyn Chain, steps: usize) -> Vec<Vec<f64>> {
    let step = |_| {
        chain.step().unwrap();
        chain.position().to_vec()
    };
    (0..steps).map(step).collect()
}

fn covariances() -> [Covariance; 3] {
    let dense = |k: usize| if k / 6 == k % 6 { 1.0 } else { 0.3 };
    [
        Covariance::IDENTITY,
        Covariance::diagonal(&[0.5, 1.0, 1.5, 0.7, 0.8, 1.2]).unwrap(),
        Covariance::dense(&(0..36).map(dense).collect::<Vec<_>>()).unwrap(),
    ]
}
