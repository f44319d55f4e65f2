//! Logistic regression: from a model as closures to posterior draws, in one call.
//!
//! The data are 100 000 simulated observations, so the true coefficients are known. `sgldcv` finds the posterior mode,
//! centers its control variates there, and starts two chains there. The last line shows how much control variates
//! reduce the variance of the gradient.
//!
//! ```text
//! cargo run --release --example quickstart
//! cargo run --release --example quickstart -- --out target/quickstart
//! cargo run --release --example quickstart -- --help
//! ```

#[path = "shared/flags.rs"]
mod flags;

use std::path::Path;

use flags::Flags;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::distributions::{BernoulliLogits, Laplace};
use sgmcmc::gradient::{ControlVariate, GradientNoise, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::report::{Prior, Report};
use sgmcmc::rng::StreamRng;

const OBSERVATIONS: usize = 100_000;
const COVARIATES: usize = 8;

// The parameters. Each field is one named tensor of the posterior.
#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

// The data. The first dimension of each field runs over the observations.
#[derive(TensorTree)]
struct Observations {
    x: Tensor<2>,
    y: Tensor<1>,
}

fn main() -> sgmcmc::Result<()> {
    let mut flags = Flags::new("Logistic regression by SGLD with control variates.");
    let draws = flags.get("draws", 20_000, "draws per chain");
    let h = flags.get("step-size", 2e-5, "step size");
    let minibatch = flags.get("minibatch", 500, "observations per gradient");
    let out = flags.get("out", String::new(), "directory for the fit, the summary and the report; empty: not written");
    let progress = flags.finish();

    println!("{OBSERVATIONS} SIMULATED observations of {COVARIATES} covariates and a binary response");
    let (data, truth) = simulate()?;

    // The log likelihood has one entry per observation, log p(yᵢ | xᵢ, w). The log prior is one number.
    let model = Model::new(|w: Weights, r: Observations| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias));

    let start = Weights { bias: zeros([1]), beta: zeros([COVARIATES]) };
    let fit = sgldcv(&model, &data, h)
        .minibatch(minibatch)
        .seed(13)
        .chains(2)
        .burn_in(1000)
        .progress(progress)
        .sample(&start, draws)?;

    println!("\n{}", fit.summary());
    println!("truth: {truth:.3?}");

    if let Some(mode) = fit.mode() {
        println!("\nposterior mode: {mode}");
        // The chains spend most of their time about one posterior standard deviation away from the mode. Measure the
        // variance of the gradient there, with and without control variates.
        let theta: Vec<f64> = fit.summary().rows().iter().zip(&mode.theta).map(|(row, mode)| mode + row.sd).collect();
        let mut evaluator = model.with(&data).evaluator(&start)?;
        let plain = MinibatchGradient::new(WithoutReplacement::new(minibatch));
        let controlled = ControlVariate::new(WithoutReplacement::new(minibatch)).with_center(mode.theta.clone());
        let plain = GradientNoise::measure(&plain, evaluator.as_mut(), &theta, 500, 1)?;
        let controlled = GradientNoise::measure(&controlled, evaluator.as_mut(), &theta, 500, 1)?;
        let ratio = controlled.reduction_from(&plain).total;
        println!("\ncontrol variates divide the variance of a gradient from {minibatch} observations by {ratio:.0}");
    }

    if !out.is_empty() {
        write(&fit, Path::new(&out))?;
    }
    Ok(())
}

/// Writes the fit, its summary and a report to `folder`.
fn write(fit: &Fit, folder: &Path) -> sgmcmc::Result<()> {
    std::fs::create_dir_all(folder)?;
    let summary = fit.summary();
    fit.save(folder.join("fit.sgmcmc"))?;
    std::fs::write(folder.join("summary.csv"), summary.to_csv())?;
    std::fs::write(folder.join("summary.md"), summary.to_markdown())?;
    Report::new(fit)
        .title("Logistic regression by SGLD with control variates")
        .prior("bias", Prior::density(|x| (-x.abs()).exp() / 2.0))
        .write(folder.join("report.html"))?;
    println!("\nwrote to {}:", folder.display());
    println!("  fit.sgmcmc    all draws; read them with `Fit::open`, `sgmcmc info` or `sgmcmc convert`");
    println!("  summary.csv   the summary with all digits; summary.md is rounded");
    println!("  report.html   diagnostics, summary and plots for a browser");
    Ok(())
}

/// Simulates the data; returns them with the true bias and coefficients.
fn simulate() -> sgmcmc::Result<(Dataset<Observations>, Vec<f64>)> {
    let mut rng = StreamRng::seed_from_u64(1);
    let truth: Vec<f64> = (0..=COVARIATES).map(|_| rng.sample::<f64, _>(StandardNormal)).collect();
    let x: Vec<f32> = (0..OBSERVATIONS * COVARIATES).map(|_| rng.sample(StandardNormal)).collect();
    let response = |row: &[f32]| {
        let logit = truth[0] + row.iter().zip(&truth[1..]).map(|(x, beta)| f64::from(*x) * beta).sum::<f64>();
        f32::from(rng.random_bool(1.0 / (1.0 + (-logit).exp())))
    };
    let y: Vec<f32> = x.chunks_exact(COVARIATES).map(response).collect();
    let observations = Observations { x: array(x, [OBSERVATIONS, COVARIATES])?, y: array(y, [OBSERVATIONS])? };
    Ok((Dataset::new(observations)?, truth))
}
