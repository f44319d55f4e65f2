//! A sampling loop written by hand, for posteriors whose draws do not fit into memory.
//!
//! The loop keeps the running mean and variance of the parameters, and evaluates the log loss on a test set at regular
//! intervals. It stores no draws. The model is the logistic regression of `08_logistic_regression.rs`. Source: Baker
//! (2019), §4.5.2. The exit code is 1 if the posterior mean predicts no better than the start.
//!
//! ```text
//! cargo run --release --features datasets --example step_by_step
//! cargo run --release --features datasets --example step_by_step -- --iterations 20000 --step-size 1e-6
//! ```

#[path = "shared/cover.rs"]
mod cover;
#[path = "shared/data.rs"]
mod data;
#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/log_loss.rs"]
mod log_loss;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;

use flags::Flags;
use log_loss::LogLoss;
use sgmcmc::datasets::Labeled;
use sgmcmc::distributions::{BernoulliLogits, Laplace};
use sgmcmc::prelude::*;
use sgmcmc::report::plot::{self, Frame, Line};
use sgmcmc::run::ProgressOption;
use sgmcmc::sink::RunningMoments;
use verdict::verdict;

#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("SGLD step by step, with running moments instead of stored draws.");
    let burn_in = flags.get("burn-in", 4000, "iterations before the first draw");
    let iterations = flags.get("iterations", 4000, "iterations after the burn-in");
    let every = flags.get("every", 500, "iterations between evaluations of the test set");
    let h = flags.get("step-size", 5e-6, "step size");
    let dir = data::directory(&mut flags);
    let figure = figure::path(&mut flags);
    let quiet = matches!(flags.finish(), ProgressOption::Off);
    let (train, test) = cover::load(&dir, 10_000)?;

    let model = Model::new(|w: Weights, r: Labeled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias));
    let start = Weights { bias: zeros([1]), beta: zeros([cover::COVARIATES]) };
    let mut log_loss = LogLoss::new(&model, &test, &start)?;
    let mut losses = Line { iterations: Vec::new(), values: Vec::new() };

    let mut sampler = sgld(&model, &train, h).minibatch(500).seed(13).start(&start)?;
    let mut moments = RunningMoments::new();
    // The log posterior of a minibatch is an estimate, which varies from step to step even if the chain stands still.
    if !quiet {
        println!("\n{:>9} {:>9} {:>22}", "iteration", "log loss", "log posterior, estimate");
    }
    for iteration in 1..=burn_in + iterations {
        sampler.step()?;
        if iteration > burn_in {
            // Each draw is weighted by its step size. The weights are equal if the step size is constant.
            moments.push(sampler.position(), sampler.info().step_size)?;
        }
        if iteration % every == 0 {
            let loss = log_loss.at(sampler.position())?;
            losses.iterations.push(iteration);
            losses.values.push(loss);
            if !quiet {
                println!("{iteration:>9} {loss:>9.4} {:>22.0}", sampler.info().log_posterior);
            }
        }
    }

    let at_mean = log_loss.at(moments.mean())?;
    let at_start = log_loss.at(&vec![0.0; moments.mean().len()])?;
    println!("\nlog loss at the posterior mean: {at_mean:.4}, at the start: {at_start:.4}");
    println!("\n{:<9} {:>9} {:>9}", "value", "mean", "sd");
    let names = sampler.layout().value_names();
    for ((name, mean), variance) in names.iter().zip(moments.mean()).zip(moments.variances()).take(8) {
        println!("{name:<9} {mean:>9.4} {:>9.4}", variance.sqrt());
    }
    println!("… of {} values, from {} draws that were not stored", names.len(), moments.count());
    figure::write(&figure, || plot::over_iterations(&[losses], &Frame::new("log loss on the test set")))?;
    Ok(verdict(at_mean < at_start, "the posterior mean predicts better than the start"))
}
