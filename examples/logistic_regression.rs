//! Bayesian logistic regression on the forest cover data: the log loss on a test set along chains of several algorithms.
//!
//! Source: Baker (2019), §4.6.2. Draws are not stored: a test function is evaluated at every tenth iteration, and only its values
//! are kept.
//!
//! ```text
//! cargo run --release --example logistic_regression
//! cargo run --release --example logistic_regression -- --methods sgld,sghmc,sgnht,sgldcv,sghmccv,sgnhtcv
//! ```

#[path = "shared/cover.rs"]
mod cover;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/log_loss.rs"]
mod log_loss;

use std::time::Instant;

use log_loss::LogLoss;
use sgmcmc::datasets::Labelled;
use sgmcmc::prelude::*;
use sgmcmc::run::Ending;
use sgmcmc::sink::{TestFunction, Trace};
use sgmcmc::{sghmc, sghmccv, sgld, sgldcv, sgnht, sgnhtcv};

#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flags = flags::Flags::read("The log loss on a test set along chains of several algorithms.")?;
    let methods = flags.get("methods", "sgld,sgldcv".to_owned(), "which of the six, separated by commas")?;
    let iterations = flags.get("iterations", 4000, "iterations of each; a fifth as many for sghmc and sghmccv")?;
    let every = flags.get("every", 10, "iterations between two looks at the test set")?;
    let factor = flags.get("factor", 1.0, "factor on all step sizes")?;
    let dir = flags.get("data", datasets::directory().display().to_string(), "directory of the data sets")?;
    let watch = flags.finish()?;
    let (train, test) = cover::load(&dir, 10_000)?;

    let model = Model::new(|w: Weights, r: Labelled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias));
    let start = Weights { bias: zeros([1]), beta: zeros([cover::FEATURES]) };

    // Every chain gets a test function of its own; an error in making it ends the chain with that error.
    let sink = |_chain: usize| {
        let mut log_loss = LogLoss::new(&model, &test, &start);
        TestFunction::new(move |values: &[f64]| match &mut log_loss {
            Ok(log_loss) => log_loss.at(values),
            Err(error) => Err(error.clone()),
        })
    };
    for name in methods.split(',') {
        let began = Instant::now();
        let looks = (iterations / every) as usize;
        // The same watching, minibatches and seed for all; only algorithm, gradient and step size differ.
        macro_rules! run {
            ($method:ident, $h:expr, $looks:expr) => {
                $method(&model, &train, factor * $h)
                    .minibatch(500)
                    .seed(13)
                    .thin(every)
                    .progress(watch.clone())
                    .sample_into(&start, $looks, sink)?
            };
        }
        let chains = match name {
            "sgld" => run!(sgld, 5e-6, looks),
            "sghmc" => run!(sghmc, 5e-7, looks / 5),
            "sgnht" => run!(sgnht, 1e-7, looks),
            "sgldcv" => run!(sgldcv, 5e-6, looks),
            "sghmccv" => run!(sghmccv, 5e-7, looks / 5),
            "sgnhtcv" => run!(sgnhtcv, 1e-6, looks),
            other => return Err(format!("there is no method `{other}`; see --help").into()),
        };
        for (trace, ending) in &chains {
            report(name, trace, ending, began.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

/// Prints ten points of the way, and mean and spread over the second half.
fn report(name: &str, Trace { iterations, values, .. }: &Trace, ending: &Ending, seconds: f64) {
    println!("\n{name}: {ending:?} after {seconds:.1} s\n{:>9} {:>9}", "iteration", "log loss");
    for (iteration, loss) in iterations.iter().zip(values).step_by((values.len() / 10).max(1)) {
        println!("{iteration:>9} {loss:>9.4}");
    }
    let half = &values[values.len() / 2..];
    let mean = half.iter().sum::<f64>() / half.len() as f64;
    let sd = (half.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / half.len() as f64).sqrt();
    println!("second half: {mean:.4} ± {sd:.4}");
}
