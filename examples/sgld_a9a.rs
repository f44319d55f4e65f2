//! SGLD on a logistic regression of incomes: how many passes over the data it needs.
//!
//! y ~ Bernoulli(σ(βᵀx)) with a constant feature, βⱼ ~ Laplace(0, 1), minibatches of 10. Source: Welling & Teh (2011), §5.2 and figure 3: many runs, each trained on a
//! random 80 % of the a9a data and tested on the rest. The paper does not say its step sizes; here h falls from 5e-5 with exponent 0.55.
//!
//! Claims: after 10 sweeps the joint log-probability has come 95 % of the way from the start to the mode, which draws stay a little below; the accuracy on
//! the test set has converged within the first sweep.
//!
//! ```text
//! cargo run --release --example sgld_a9a
//! ```

#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/or_synthetic.rs"]
mod or_synthetic;

use figure::{Axis, Panel, Series};
use or_synthetic::or_synthetic;
use sgmcmc::datasets::Labelled;
use sgmcmc::prelude::*;

type Failure = Box<dyn std::error::Error>;

const MINIBATCH: usize = 10;
const FEATURES: usize = 123;
/// The looks along a run, in sweeps.
const LOOKS: [f64; 11] = [0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 9.0, 10.0];
/// The look at the end of the first sweep.
const EARLY: usize = 3;

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
    let figure = flags.get("figure", "sgld_a9a.svg".to_owned(), "where the figure is saved")?;
    flags.finish()?;
    let data = or_synthetic(datasets::a9a(&dir), || datasets::a9a_like(32_561, 1))?.train;
    let model = Model::new(|w: Weights, r: Labelled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias).sum());
    let start = Weights { bias: zeros([1]), beta: zeros([FEATURES]) };

    let (mut joints, mut accuracies) = (vec![Vec::new(); LOOKS.len()], vec![Vec::new(); LOOKS.len()]);
    let mut modes = Vec::new();
    for run in 0..runs {
        let (train, test) = data.split(0.8, run)?;
        let n = train.observations();
        let steps = Polynomial { a: h * 1000.0_f64.powf(0.55), b: 1000.0, gamma: 0.55 };
        let gradient = MinibatchGradient::new(WithoutReplacement::new(MINIBATCH));
        let mut sampler = Builder::new(model.with(&train), Sgld, gradient, steps).seed(run).start(&start)?;
        let mut tester = model.with(&test).evaluator(&start)?;
        let mut terms = vec![0.0; test.observations()];
        let mode = LbfgsSearch::default().run(sampler.kernel().evaluator(), &[0.0; FEATURES + 1])?;
        modes.push(mode.log_posterior / n as f64);
        for (look, sweeps) in LOOKS.iter().enumerate() {
            while (sampler.info().iterations as f64) < sweeps * n as f64 / MINIBATCH as f64 {
                sampler.step()?;
            }
            let theta = sampler.coordinates().to_vec();
            let evaluator = sampler.kernel().evaluator();
            joints[look].push(evaluator.log_density(&theta, evaluator.all_rows())? / n as f64);
            tester.pointwise(&theta, tester.all_rows(), &mut terms)?;
            // A label is told right where its probability is above one half, and by chance where it is one half.
            let right = |term: &f64| {
                0.5 + 0.5 * if (term.exp() - 0.5).abs() < 1e-9 { 0.0 } else { (term.exp() - 0.5).signum() }
            };
            let right: f64 = terms.iter().map(right).sum();
            accuracies[look].push(right / terms.len() as f64);
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
    let (last, mode) = (LOOKS.len() - 1, moments(&modes).0);
    let left = (mode - at(&joints, last)) / (mode - at(&joints, 0));
    let gap = at(&accuracies, last) - at(&accuracies, EARLY);
    println!("{:>7} {mode:>15.4}\n", "mode");
    let panel = |title: &str, values: &[Vec<f64>]| {
        let points = LOOKS.iter().enumerate().map(|(look, sweeps)| (*sweeps, at(values, look))).collect();
        let mean = Series { name: String::new(), colour: 0, dots: false, points };
        let each = LOOKS.iter().zip(values).flat_map(|(sweeps, values)| values.iter().map(|value| (*sweeps, *value)));
        let each = Series { name: String::new(), colour: 1, dots: true, points: each.collect() };
        let (x, y) = (Axis { label: "sweeps", log: false }, Axis { label: "", log: false });
        Panel { title: title.into(), x, y, series: vec![each, mean] }
    };
    let panels = [panel("log joint per observation", &joints), panel("accuracy on the test set", &accuracies)];
    figure::save(&figure, &panels)?;
    let mut failed = 0;
    let mut claim = |what: String, holds: bool| {
        failed += usize::from(!holds);
        println!("{what}: {}", if holds { "pass" } else { "FAIL" });
    };
    claim(format!("after ten sweeps {left:.3} of the way from the start to the mode is left, below 0.05"), left < 0.05);
    claim(format!("accuracy after one sweep is {gap:.4} below that after ten, below 0.005"), gap < 0.005);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt())
}
