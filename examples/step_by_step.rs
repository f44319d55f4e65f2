//! A chain in a loop of one's own, for when storing all of it would take too much memory.
//!
//! Nothing is kept but the running mean and variance of the parameters and, now and then, the log loss on a test set. The model is
//! the logistic regression of `logistic_regression.rs`. Source: Baker (2019), §4.5.2.
//!
//! ```text
//! cargo run --release --example step_by_step
//! cargo run --release --example step_by_step -- --iterations 20000 --step-size 1e-6
//! ```

#[path = "shared/cover.rs"]
mod cover;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/log_loss.rs"]
mod log_loss;

use log_loss::LogLoss;
use sgmcmc::datasets::Labelled;
use sgmcmc::prelude::*;
use sgmcmc::sgld;
use sgmcmc::sink::RunningMoments;

#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flags = flags::Flags::read("SGLD step by step, with running moments instead of stored draws.")?;
    let burn_in = flags.get("burn-in", 4000, "iterations before the first one that counts")?;
    let iterations = flags.get("iterations", 4000, "iterations that count")?;
    let every = flags.get("every", 500, "iterations between two looks at the test set")?;
    let h = flags.get("step-size", 5e-6, "step size")?;
    let dir = flags.get("data", datasets::directory().display().to_string(), "directory of the data sets")?;
    let quiet = matches!(flags.finish()?, Watch::Off);
    let (train, test) = cover::load(&dir, 10_000)?;

    let model = Model::new(|w: Weights, r: Labelled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias));
    let start = Weights { bias: zeros([1]), beta: zeros([cover::FEATURES]) };
    let mut log_loss = LogLoss::new(&model, &test, &start)?;

    let mut sampler = sgld(&model, &train, h).minibatch(500).seed(13).start(&start)?;
    let mut moments = RunningMoments::new();
    if !quiet {
        println!("\n{:>9} {:>9} {:>16}", "iteration", "log loss", "log posterior");
    }
    for iteration in 1..=burn_in + iterations {
        sampler.step()?;
        if iteration > burn_in {
            // With constant steps all draws have the same weight; with decreasing ones the step size is the right weight.
            moments.push(sampler.position(), sampler.info().step_size)?;
        }
        if !quiet && iteration % every == 0 {
            let loss = log_loss.at(sampler.position())?;
            println!("{iteration:>9} {loss:>9.4} {:>16.0}", sampler.info().log_posterior);
        }
    }

    println!("\nlog loss at the posterior mean: {:.4}", log_loss.at(moments.mean())?);
    println!("\n{:<9} {:>9} {:>9}", "value", "mean", "sd");
    let names = sampler.layout().elements();
    for ((name, mean), variance) in names.iter().zip(moments.mean()).zip(moments.variances()).take(8) {
        println!("{name:<9} {mean:>9.4} {:>9.4}", variance.sqrt());
    }
    println!("… of {} values, from {} draws of which none was stored", names.len(), moments.count());
    Ok(())
}
