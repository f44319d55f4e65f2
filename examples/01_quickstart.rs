//! Logistic regression: from a model as closures to posterior draws, in one call.
//!
//! The data are 100 000 simulated observations, so the true coefficients are known. `auto` needs no step size, no
//! minibatch size and no number of draws: it chooses them, says why, and samples until the draws are good enough. Ctrl-C
//! ends the sampling early and keeps the draws. The exit code is 1 if the check of the fit finds a problem.
//!
//! ```text
//! cargo run --release --example quickstart
//! cargo run --release --example quickstart -- --effective-draws 2000 --out target/quickstart
//! cargo run --release --example quickstart -- --help
//! ```

#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::path::Path;
use std::process::ExitCode;

use flags::Flags;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::distributions::{BernoulliLogits, Laplace};
use sgmcmc::prelude::*;
use sgmcmc::report::{Report, plot::Prior};
use sgmcmc::rng::StreamRng;
use sgmcmc::run::StopSignal;
use sgmcmc::tuning::Goal;
use verdict::verdict;

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

fn main() -> sgmcmc::Result<ExitCode> {
    let goal = Goal::default();
    let mut flags = Flags::new("Logistic regression without a step size, a minibatch size or a number of draws.");
    let effective_draws =
        flags.get("effective-draws", goal.effective_draws, "smallest effective sample size of any value");
    let bias = flags.get("bias", goal.bias, "accepted relative error of variances");
    let seed = flags.get("seed", 0, "seed of the random numbers");
    let out = flags.get("out", String::new(), "directory for fit, summary, report and figures; empty: not written");
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
    let fit = auto(&model, &data)
        .goal(Goal { effective_draws, bias, ..goal })
        .seed(seed)
        .progress(progress)
        .stop_on(&StopSignal::on_ctrl_c()?)
        .sample(&start)?;

    if let Some(tuning) = &fit.info().tuning {
        println!("\ndecisions ({:.1} s of tuning):", tuning.seconds);
        tuning.decisions.iter().for_each(|decision| println!("- {decision}"));
    }
    println!("\n{}", fit.summary());
    println!("truth: {truth:.3?}");
    let check = fit.check();
    println!("\n{check}");

    if !out.is_empty() {
        write(&fit, Path::new(&out))?;
    }
    Ok(verdict(check.passed(), "the check of the fit"))
}

/// Writes the fit, its summary, a report and figures to `folder`.
fn write(fit: &Fit, folder: &Path) -> sgmcmc::Result<()> {
    std::fs::create_dir_all(folder)?;
    let summary = fit.summary();
    fit.save(folder.join("fit.sgmcmc"))?;
    std::fs::write(folder.join("summary.csv"), summary.to_csv())?;
    std::fs::write(folder.join("summary.md"), summary.to_markdown())?;
    Report::new(fit)
        .title("Logistic regression on simulated data")
        .prior("bias", laplace())
        .write(folder.join("report.html"))?;
    draw(fit, folder)?;
    println!("\nwrote to {}:", folder.display());
    println!("  fit.sgmcmc    all draws; read them with `Fit::open`, `sgmcmc info` or `sgmcmc convert`");
    println!("  summary.csv   the summary with all digits; summary.md is rounded");
    println!("  report.html   diagnostics, summary and plots for a browser");
    println!("  *.svg         one figure of each kind");
    Ok(())
}

/// Writes one figure of each kind to `folder`.
fn draw(fit: &Fit, folder: &Path) -> sgmcmc::Result<()> {
    let plot = fit.plot();
    let figures = [
        ("trace.svg", plot.trace("beta[0]")?),
        ("rank.svg", plot.rank("beta[0]")?),
        ("density.svg", plot.density("beta[0]")?),
        ("autocorrelation.svg", plot.autocorrelation("beta[0]")?),
        ("running_mean.svg", plot.running_mean("beta[0]")?),
        ("forest.svg", plot.forest(&["bias", "beta"])?),
        ("pair.svg", fit.plot().size(600, 560).pair(&["bias", "beta[0]", "beta[1]"])?),
        ("prior_posterior.svg", plot.prior_posterior("beta[0]", &laplace())?),
    ];
    for (name, figure) in figures {
        figure.save(folder.join(name))?;
    }
    Ok(())
}

/// Returns the density of the prior of every coefficient.
fn laplace() -> Prior {
    Prior::density(|x| (-x.abs()).exp() / 2.0)
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
