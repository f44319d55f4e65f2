//! The eager engine compared with a plain Burn loop. Both draw a minibatch, gather its observations, evaluate the
//! closures, differentiate and read the gradient.

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::burn::activation::log_sigmoid;
use sgmcmc::burn::{DType, TensorData};
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::gradient::Oracle;
use sgmcmc::minibatch::WithReplacement;
use sgmcmc::minibatch::{Minibatch, Scheme};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc::{Engine, default_device};

use crate::bench::timing::side_by_side;

#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

#[derive(TensorTree)]
struct Observations {
    x: Tensor<2>,
    y: Tensor<1>,
}

fn log_likelihood(w: Weights, r: Observations) -> Tensor<1> {
    let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
    log_sigmoid(logits * (r.y * 2.0 - 1.0))
}

fn log_prior(w: Weights) -> Tensor<1> {
    (w.beta.square().sum() + w.bias.square().sum()) * -0.5
}

/// Prints a row for each size of data and minibatch.
pub(crate) fn run() -> Result<(), sgmcmc::gradient::Error> {
    println!("{:<24} {:>12} {:>14} {:>8}", "workload", "sgmcmc µs", "plain Burn µs", "ratio");
    for (all, n, covariates) in [(10_000, 100, 2), (32_561, 10, 123), (100_000, 500, 54)] {
        let workload = format!("{n} of {all} × {covariates}");
        let (ours, plain) = measure(all, n, covariates)?;
        println!("{workload:<24} {ours:>12.1} {plain:>14.1} {:>8.3}", ours / plain);
    }
    Ok(())
}

/// Returns the µs per gradient of the eager engine and of the plain loop.
fn measure(all: usize, n: usize, covariates: usize) -> Result<(f64, f64), sgmcmc::gradient::Error> {
    let mut rng = ChainRng::new(1, 0);
    let values: Vec<f32> = (0..all * covariates).map(|_| rng.noise().sample(StandardNormal)).collect();
    let responses: Vec<f32> = (0..all).map(|_| f32::from(rng.noise().random_bool(0.5))).collect();
    let x = array(values, [all, covariates])?;
    let y = array(responses, [all])?;
    let scheme = WithReplacement::new(n);
    let theta = vec![0.01; covariates + 1];

    let model = Model::new(log_likelihood).prior(log_prior);
    let data = Dataset::new(Observations { x: x.clone(), y: y.clone() })?;
    let start = Weights { bias: zeros([1]), beta: zeros([covariates]) };
    let estimator = MinibatchGradient::new(scheme);
    let evaluator = model.with(&data).engine(Engine::Eager).evaluator(&start)?;
    let mut oracle = Oracle::new(estimator, evaluator, &theta, ChainRng::new(2, 0))?;
    let mut gradient = vec![0.0; covariates + 1];
    let mut failed = None;
    let mut ours = || {
        if let Err(error) = oracle.gradient(&theta, &mut gradient) {
            failed = Some(error);
        }
    };

    let device = default_device();
    let mut state = scheme.init(all)?;
    let mut batch = Minibatch::default();
    let mut generator = ChainRng::new(2, 0);
    let mut plain_gradient = vec![0.0; covariates + 1];
    let mut plain = || {
        scheme.draw(&mut state, generator.minibatch(), &mut batch);
        let rows: Vec<i64> = batch.rows.iter().map(|row| *row as i64).collect();
        let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [n]), (&device, DType::I64));
        let observations = Observations { x: x.clone().select(0, rows.clone()), y: y.clone().select(0, rows) };
        let leaf = |values: &[f64]| {
            let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            let length = values.len();
            Tensor::<1>::from_data(TensorData::new(values, [length]), (&device, DType::F32)).autodiff().require_grad()
        };
        let (bias, beta) = (leaf(&theta[..1]), leaf(&theta[1..]));
        let weights = || Weights { bias: bias.clone(), beta: beta.clone() };
        let terms = log_likelihood(weights(), observations).sum() * (all as f64 / n as f64) + log_prior(weights());
        let value = terms.to_data();
        let mut gradients = terms.backward();
        for (leaf, range) in [(&bias, 0..1), (&beta, 1..covariates + 1)] {
            if let Some(found) = leaf.grad_remove(&mut gradients) {
                let found = found.into_data();
                plain_gradient[range].iter_mut().zip(found.iter::<f64>()).for_each(|(entry, g)| *entry = g);
            }
        }
        std::hint::black_box((value, &plain_gradient));
    };
    let times = side_by_side(15, 1000, &mut ours, &mut plain);
    match failed {
        Some(error) => Err(error),
        None => Ok(times),
    }
}
