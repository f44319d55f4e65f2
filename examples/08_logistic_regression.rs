//! The log loss on a test set along chains of several algorithms, for logistic regression on the forest cover data.
//!
//! The draws are not stored. A sink evaluates a test function at every tenth iteration and keeps its values only.
//! Source: Baker (2019), §4.6.2. The exit code is 1 if a chain fails or predicts no better than coefficients of zero.
//!
//! ```text
//! cargo run --release --features datasets --example logistic_regression
//! cargo run --release --features datasets --example logistic_regression -- --methods sgld,sghmc,sgnht,sgldcv,sghmccv,sgnhtcv
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
use std::time::Instant;

use flags::Flags;
use log_loss::LogLoss;
use sgmcmc::datasets::Labeled;
use sgmcmc::distributions::{BernoulliLogits, Laplace};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::prelude::*;
use sgmcmc::report::plot::{self, Frame, Line};
use sgmcmc::sink::{TestFunction, Trace};
use verdict::verdict;

#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("The log loss on a test set along chains of several algorithms.");
    let methods = flags.get("methods", "sgld,sgldcv".to_owned(), "methods, separated by commas");
    let iterations = flags.get("iterations", 4000, "iterations of each method; a fifth of them for sghmc and sghmccv");
    let every = flags.get("every", 10, "iterations between evaluations of the test set");
    let factor = flags.get("factor", 1.0, "factor of all step sizes");
    let dir = data::directory(&mut flags);
    let figure = figure::path(&mut flags);
    let progress = flags.finish();
    let (train, test) = cover::load(&dir, 10_000)?;

    let model = Model::new(|w: Weights, r: Labeled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias));
    let start = Weights { bias: zeros([1]), beta: zeros([cover::COVARIATES]) };

    // Each chain has its own sink. An error in its construction becomes the error of the chain.
    let sink = |_chain: usize| {
        let mut log_loss = LogLoss::new(&model, &test, &start);
        TestFunction::new(move |values: &[f64]| match &mut log_loss {
            Ok(log_loss) => log_loss.at(values),
            Err(error) => Err(error.clone()),
        })
    };
    let (mut lines, mut passed) = (Vec::new(), true);
    for name in methods.split(',') {
        let began = Instant::now();
        let draws = (iterations / every) as usize;
        // The methods differ in algorithm, gradient and step size only.
        macro_rules! run {
            ($method:ident, $h:expr, $draws:expr) => {
                $method(&model, &train, factor * $h)
                    .minibatch(500)
                    .seed(13)
                    .thin(every)
                    .progress(progress.clone())
                    .sample_into(&start, $draws, sink)?
            };
        }
        let chains = match name {
            "sgld" => run!(sgld, 5e-6, draws),
            "sghmc" => run!(sghmc, 5e-7, draws / 5),
            "sgnht" => run!(sgnht, 1e-7, draws),
            "sgldcv" => run!(sgldcv, 5e-6, draws),
            "sghmccv" => run!(sghmccv, 5e-7, draws / 5),
            "sgnhtcv" => run!(sgnhtcv, 1e-6, draws),
            other => {
                eprintln!("there is no method `{other}`; see --help");
                std::process::exit(2);
            }
        };
        for (trace, outcome) in &chains {
            let mean = report(name, trace, outcome, began.elapsed().as_secs_f64());
            passed &= *outcome == ChainOutcome::Complete && mean < std::f64::consts::LN_2;
            lines.push(Line { iterations: trace.iterations.clone(), values: trace.values.clone() });
        }
    }
    // The lines have the colors of chains 0, 1, ….
    let title = format!("log loss on the test set: {methods}");
    figure::write(&figure, || plot::over_iterations(&lines, &Frame::new(title)))?;
    Ok(verdict(passed, "all chains are complete, and predict better than coefficients of zero"))
}

/// Prints the log loss at ten iterations, and its mean and standard deviation over the second half. Returns the mean.
fn report(name: &str, Trace { iterations, values, .. }: &Trace, outcome: &ChainOutcome, seconds: f64) -> f64 {
    println!("\n{name}: {outcome} after {seconds:.1} s\n{:>9} {:>9}", "iteration", "log loss");
    for (iteration, loss) in iterations.iter().zip(values).step_by((values.len() / 10).max(1)) {
        println!("{iteration:>9} {loss:>9.4}");
    }
    let half = &values[values.len() / 2..];
    let mean = half.iter().sum::<f64>() / half.len() as f64;
    let sd = (half.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / half.len() as f64).sqrt();
    println!("second half: {mean:.4} ± {sd:.4}");
    mean
}
