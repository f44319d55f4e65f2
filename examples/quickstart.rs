//! Logistic regression from closures to the posterior mode and the noise of its gradients.
//!
//! ```text
//! cargo run --release --example quickstart
//! ```

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::burn::activation::log_sigmoid;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;

const OBSERVATIONS: usize = 100_000;
const COVARIATES: usize = 8;
const MINIBATCH: usize = 500;

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{OBSERVATIONS} simulated observations of {COVARIATES} covariates and a yes/no answer");
    let (data, truth) = simulate()?;

    let model = Model::new(|w: Weights, r: Observations| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        log_sigmoid(logits * (r.y * 2.0 - 1.0)) // log p(yᵢ | xᵢ), one entry per observation
    })
    .prior(|w: Weights| (w.beta.abs().sum() + w.bias.abs().sum()).neg()); // Laplace(0, 1)

    let start = Weights { bias: zeros([1]), beta: zeros([COVARIATES]) };
    let posterior = model.with(&data);

    let minibatch = WithoutReplacement::new(MINIBATCH);
    let plain = MinibatchGradient::new(minibatch);
    let reduced = Svrg::new(minibatch, (OBSERVATIONS / MINIBATCH) as u64);
    let mode = ModeSearch::default().run(&reduced, posterior.evaluator(&start)?, &[0.0; COVARIATES + 1])?;
    println!("\nposterior mode: {mode}");

    let mut evaluator = posterior.evaluator(&start)?;
    println!("\n{:<8} {:>9} {:>9}", "element", "truth", "mode");
    for (index, (truth, mode)) in truth.iter().zip(&mode.theta).enumerate() {
        println!("{:<8} {truth:>9.3} {mode:>9.3}", evaluator.layout().element(index));
    }

    // One posterior standard deviation or so away from the mode, where a chain would be.
    let theta: Vec<f64> = mode.theta.iter().map(|theta| theta + 2.0 / (OBSERVATIONS as f64).sqrt()).collect();
    let controlled = ControlVariate::new(minibatch).at(mode.theta);
    let plain = GradientNoise::measure(&plain, evaluator.as_mut(), &theta, 500, 1)?;
    let controlled = GradientNoise::measure(&controlled, evaluator.as_mut(), &theta, 500, 1)?;
    println!("\nnoise of a gradient from {MINIBATCH} observations:\n{plain}");
    println!("\nthe same with control variates at the mode:\n{controlled}");
    println!("\ncontrol variates divide the variance by {:.0}", controlled.reduction_from(&plain).total);
    Ok(())
}

fn simulate() -> Result<(Dataset<Observations>, Vec<f64>), sgmcmc::Error> {
    let mut rng = StreamRng::seed_from_u64(1);
    let truth: Vec<f64> = (0..=COVARIATES).map(|_| rng.sample::<f64, _>(StandardNormal)).collect();
    let x: Vec<f32> = (0..OBSERVATIONS * COVARIATES).map(|_| rng.sample(StandardNormal)).collect();
    let answer = |row: &[f32]| {
        let logit = truth[0] + row.iter().zip(&truth[1..]).map(|(x, beta)| f64::from(*x) * beta).sum::<f64>();
        f32::from(rng.random_bool(1.0 / (1.0 + (-logit).exp())))
    };
    let y: Vec<f32> = x.chunks_exact(COVARIATES).map(answer).collect();
    let rows = Observations { x: array(x, [OBSERVATIONS, COVARIATES])?, y: array(y, [OBSERVATIONS])? };
    Ok((Dataset::new(rows)?, truth))
}
