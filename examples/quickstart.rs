//! Logistic regression from closures to the posterior, in one call.
//!
//! The data are 100 000 simulated observations, so that the truth is known. `sgldcv` finds the posterior mode, centres its control
//! variates there, and runs two chains from there; the last lines say why control variates are worth it.
//!
//! ```text
//! cargo run --release --example quickstart
//! cargo run --release --example quickstart -- --out results
//! cargo run --release --example quickstart -- --help
//! ```

#[path = "shared/flags.rs"]
mod flags;

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::{sgldcv, storage};

const OBSERVATIONS: usize = 100_000;
const COVARIATES: usize = 8;

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
    let mut flags = flags::Flags::read("Logistic regression by SGLD with control variates.")?;
    let draws = flags.get("draws", 20_000, "draws of each chain")?;
    let h = flags.get("step-size", 2e-5, "step size")?;
    let minibatch = flags.get("minibatch", 500, "observations per gradient")?;
    let out =
        flags.get("out", String::new(), "directory for the fit, the summary and the report; none: not written")?;
    let watch = flags.finish()?;

    println!("{OBSERVATIONS} SIMULATED observations of {COVARIATES} covariates and a yes/no answer");
    let (data, truth) = simulate()?;

    let model = Model::new(|w: Weights, r: Observations| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y) // log p(yᵢ | xᵢ), one entry per observation
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias));

    let start = Weights { bias: zeros([1]), beta: zeros([COVARIATES]) };
    let fit = sgldcv(&model, &data, h)
        .minibatch(minibatch)
        .seed(13)
        .chains(2)
        .burn_in(1000)
        .progress(watch)
        .sample(&start, draws)?;

    let mode = fit.mode().ok_or("sgldcv looks for the mode")?;
    println!("\nposterior mode: {mode}");
    println!("\n{}", fit.summary());
    println!("truth: {truth:.3?}");

    // How noisy are gradients one posterior standard deviation away from the mode, where the chains are?
    let theta: Vec<f64> = fit.summary().rows().iter().zip(&mode.theta).map(|(row, mode)| mode + row.sd).collect();
    let mut evaluator = model.with(&data).evaluator(&start)?;
    let plain = MinibatchGradient::new(WithoutReplacement::new(minibatch));
    let controlled = ControlVariate::new(WithoutReplacement::new(minibatch)).at(mode.theta.clone());
    let plain = GradientNoise::measure(&plain, evaluator.as_mut(), &theta, 500, 1)?;
    let controlled = GradientNoise::measure(&controlled, evaluator.as_mut(), &theta, 500, 1)?;
    let ratio = controlled.reduction_from(&plain).total;
    println!("\ncontrol variates divide the variance of a gradient from {minibatch} observations by {ratio:.0}");

    if !out.is_empty() {
        write(&fit, Path::new(&out))?;
    }
    Ok(())
}

/// Writes what there is to keep of `fit` into `folder`.
fn write(fit: &Fit, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    let summary = fit.summary();
    storage::fits::save(fit, folder.join("fit.sgmcmc"))?;
    std::fs::write(folder.join("summary.csv"), summary.to_csv())?;
    std::fs::write(folder.join("summary.md"), summary.to_markdown())?;
    Report::new(fit)
        .title("Logistic regression by SGLD with control variates")
        .prior("bias", Prior::density(|x| (-x.abs()).exp() / 2.0))
        .write(folder.join("report.html"))?;
    println!("\nwrote to {}:", folder.display());
    println!("  fit.sgmcmc    all draws (`sgmcmc info`, `sgmcmc convert`; `storage::fits::open` reads it back)");
    println!("  summary.csv   the table with all digits, and summary.md for reading");
    println!("  report.html   verdict, table and plots: open it in a browser");
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
