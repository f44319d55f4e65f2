//! A Bayesian neural network on handwritten digits: 79 514 parameters and no stored draws.
//!
//! The model is y ~ Categorical(softmax(softmax(x B + b) A + a)), with normal priors whose precisions have Gamma(1, 1)
//! priors. Source: Baker (2019), §4.6.3, after Chen, Fox & Guestrin (2014). The precisions are declared positive, so
//! the chain moves their logarithms. The precision of the 78 400 weights of the hidden layer has a narrow posterior and
//! needs a smaller step size than the weights. The exit code is 1 if the chain fails or the log loss does not fall.
//!
//! ```text
//! cargo run --release --features datasets --example bayesian_neural_network
//! cargo run --release --features datasets --example bayesian_neural_network -- --iterations 10000
//! ```

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

use data::or_synthetic;
use flags::Flags;
use log_loss::LogLoss;
use rand::SeedableRng;
use sgmcmc::burn::activation::softmax;
use sgmcmc::datasets::{self, Classified};
use sgmcmc::distributions::{CategoricalLogits, Gamma, Normal};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::prelude::*;
use sgmcmc::report::plot::{self, Frame, Line};
use sgmcmc::rng::StreamRng;
use sgmcmc::sink::{Moments, SecondMoments, TestFunction};
use verdict::verdict;

const PIXELS: usize = 784;
const HIDDEN: usize = 100;
const DIGITS: usize = 10;

/// The weights and biases of one layer, and their prior precisions.
#[derive(TensorTree)]
struct Layer {
    weight: Tensor<2>,
    bias: Tensor<1>,
    #[tree(positive)]
    weight_precision: Tensor<1>,
    #[tree(positive)]
    bias_precision: Tensor<1>,
}

#[derive(TensorTree)]
struct Network {
    hidden: Layer,
    output: Layer,
}

impl Layer {
    /// Returns a layer with standard normal weights and biases and precisions of one.
    fn random(inputs: usize, outputs: usize, rng: &mut StreamRng) -> Self {
        Self {
            weight: Normal::new(0.0, 1.0).sample([inputs, outputs], rng),
            bias: Normal::new(0.0, 1.0).sample([outputs], rng),
            weight_precision: ones([1]),
            bias_precision: ones([1]),
        }
    }

    fn forward(self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight) + self.bias.unsqueeze_dim(0)
    }

    fn log_prior(self) -> Tensor<1> {
        let precision = Gamma::new(1.0, 1.0);
        let weight_sd = self.weight_precision.clone().powf_scalar(-0.5);
        let bias_sd = self.bias_precision.clone().powf_scalar(-0.5);
        Normal::new(0.0, weight_sd.unsqueeze_dim::<2>(0)).log_prob(self.weight).sum()
            + Normal::new(0.0, bias_sd).log_prob(self.bias).sum()
            + precision.log_prob(self.weight_precision)
            + precision.log_prob(self.bias_precision)
    }
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("A Bayesian neural network on handwritten digits, by SGLD.");
    let iterations = flags.get("iterations", 2000, "iterations");
    let every = flags.get("every", 200, "iterations between evaluations of the test set");
    let h = flags.get("step-size", 1e-4, "step size of weights and biases");
    let minibatch = flags.get("minibatch", 500, "images per gradient");
    let dir = data::directory(&mut flags);
    let figure = figure::path(&mut flags);
    let progress = flags.finish();
    let digits = or_synthetic(datasets::mnist(dir), || datasets::mnist_like(20_000, 1))?;
    println!("mnist: {} training and {} test images", digits.train.observations(), digits.test.observations());

    let model = Model::new(|network: Network, r: Classified| {
        let Network { hidden, output } = network;
        CategoricalLogits::new(output.forward(softmax(hidden.forward(r.x), 1))).log_prob(r.class)
    })
    .prior(|network: Network| network.hidden.log_prior() + network.output.log_prior());

    let mut rng = StreamRng::seed_from_u64(1);
    let start =
        Network { hidden: Layer::random(PIXELS, HIDDEN, &mut rng), output: Layer::random(HIDDEN, DIGITS, &mut rng) };
    let step_size = StepSize::from(h).parameter("hidden.weight_precision", 0.1 * h);

    // A pair of sinks: running moments of all parameters, and the log loss of each draw. Only the latter grows with the
    // number of draws.
    let sink = |_chain: usize| {
        let mut log_loss = LogLoss::new(&model, &digits.test, &start);
        let test_function = TestFunction::new(move |values: &[f64]| match &mut log_loss {
            Ok(log_loss) => log_loss.at(values),
            Err(error) => Err(error.clone()),
        });
        (Moments::new(SecondMoments::Variances), test_function)
    };
    let run = sgld(&model, &digits.train, step_size).minibatch(minibatch).seed(1).thin(every).progress(progress);
    let mut passed = true;
    for ((moments, trace), outcome) in run.sample_into(&start, (iterations / every) as usize, sink)? {
        println!("\nchain {outcome}\n{:>9} {:>14}", "iteration", "test log loss");
        for (iteration, loss) in trace.iterations.iter().zip(&trace.values) {
            println!("{iteration:>9} {loss:>14.4}");
        }
        println!("\nrunning means of {} parameters over {} draws", moments.mean().len(), moments.count());
        passed &= outcome == ChainOutcome::Complete && trace.values.last() < trace.values.first();
        let line = Line { iterations: trace.iterations, values: trace.values };
        figure::write(&figure, || plot::over_iterations(&[line], &Frame::new("log loss on the test images")))?;
    }
    Ok(verdict(passed, "the chain is complete, and the log loss on the test images has fallen"))
}
