//! SGLD on a logistic regression of incomes: how many passes over the data it needs.
//!
//! y ~ Bernoulli(σ(βᵀx)) with a constant feature, βⱼ ~ Laplace(0, 1), minibatches of 10. Source: Welling & Teh (2011), §5.2 and figure 3: many runs, each trained on a
//! random 80 % of the a9a data and tested on the rest. The paper does not say its step sizes; here h falls from 5e-5 with exponent 0.55.
//!
//! Claims: the joint log-probability has converged after at most 10 sweeps, the accuracy on the test set after less than one.
//!
//! ```text
//! cargo run --release --example sgld_a9a
//! ```

#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/or_synthetic.rs"]
mod or_synthetic;

use or_synthetic::or_synthetic;
use sgmcmc::datasets::Labelled;
use sgmcmc::prelude::*;

type Failure = Box<dyn std::error::Error>;

const MINIBATCH: usize = 10;
const FEATURES: usize = 123;
/// The looks along a run, in sweeps.
const LOOKS: [f64; 10] = [0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 9.0, 10.0];

#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

fn main() -> Result<(), Failure> {
    let mut flags = flags::Flags::read("SGLD on a logistic regression of incomes.")?;
    let runs: u64 = flags.get("runs", 50, "runs, each with its own split")?;
    let h = flags.get("step", 5e-5, "the first step size")?;
    let dir = flags.get("data", datasets::directory().display().to_string(), "directory of the data sets")?;
    flags.finish()?;
    let data = or_synthetic(datasets::a9a(&dir), || datasets::a9a_like(32_561, 1))?.train;
    let model = Model::new(|w: Weights, r: Labelled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias).sum());
    let start = Weights { bias: zeros([1]), beta: zeros([FEATURES]) };

    let mut joints = vec![Vec::new(); LOOKS.len()];
    let mut accuracies = vec![Vec::new(); LOOKS.len()];
    for run in 0..runs {
        let (train, test) = data.split(0.8, run)?;
        let n = train.observations();
        let steps = Polynomial { a: h * 1000.0_f64.powf(0.55), b: 1000.0, gamma: 0.55 };
        let gradient = MinibatchGradient::new(WithoutReplacement::new(MINIBATCH));
        let mut sampler = Builder::new(model.with(&train), Sgld, gradient, steps).seed(run).start(&start)?;
        let mut tester = model.with(&test).evaluator(&start)?;
        let mut terms = vec![0.0; test.observations()];
        for (look, sweeps) in LOOKS.iter().enumerate() {
            while (sampler.info().iterations as f64) < sweeps * n as f64 / MINIBATCH as f64 {
                sampler.step()?;
            }
            let theta = sampler.coordinates().to_vec();
            let evaluator = sampler.kernel().evaluator();
            joints[look].push(evaluator.log_density(&theta, evaluator.all_rows())? / n as f64);
            tester.pointwise(&theta, tester.all_rows(), &mut terms)?;
            // A label is told right where its probability is above one half.
            let right = terms.iter().filter(|term| **term > 0.5_f64.ln()).count();
            accuracies[look].push(right as f64 / terms.len() as f64);
        }
    }
    println!(
        "\n{runs} runs, mean and standard deviation\n{:>7} {:>24} {:>20}",
        "sweeps", "log joint per item", "accuracy"
    );
    for (look, sweeps) in LOOKS.iter().enumerate() {
        let ((joint, joint_sd), (accuracy, accuracy_sd)) = (moments(&joints[look]), moments(&accuracies[look]));
        println!("{sweeps:>7} {joint:>15.4} ±{joint_sd:>7.4} {accuracy:>11.4} ±{accuracy_sd:>7.4}");
    }
    let at = |values: &[Vec<f64>], look: usize| moments(&values[look]).0;
    let last = LOOKS.len() - 1;
    // Of all that was gained since the first look, what the last two sweeps brought.
    let left = (at(&joints, last) - at(&joints, last - 2)).abs()
        / (at(&joints, last) - at(&joints, 0)).abs().max(f64::MIN_POSITIVE);
    let gap = at(&accuracies, last) - at(&accuracies, 2);
    println!("\nsweeps 8 to 10 move the joint by {left:.3} of its way (claim: below 0.05)");
    println!("accuracy after one sweep is {gap:.4} below that after ten (claim: below 0.005)");
    let passed = left < 0.05 && gap < 0.005;
    println!("{}", if passed { "PASS: both claims hold" } else { "FAIL: a claim does not hold" });
    if passed { Ok(()) } else { Err("a claim does not hold".into()) }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt())
}
