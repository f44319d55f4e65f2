//! SGLD on a logistic regression of incomes: the number of passes over the data until convergence.
//!
//! The model is y ~ Bernoulli(σ(b + βᵀx)), b, βⱼ ~ Laplace(0, 1), with minibatches of 10. Source: Welling & Teh (2011),
//! §5.2 and figure 3: many runs, each trained on a random 80 % of the a9a data and tested on the rest. The paper does
//! not state its step sizes; here h decreases from 5e-5 with exponent 0.55.
//!
//! Claims: after 10 sweeps the log joint density has covered 95 % of the difference between the start and the mode
//! (draws stay slightly below the mode). The accuracy on the test set converges within the first sweep.
//!
//! ```text
//! cargo run --release -p lab -- sgld-a9a
//! ```

use sgmcmc::algorithms::Sgld;
use sgmcmc::datasets;
use sgmcmc::datasets::Labeled;
use sgmcmc::distributions::{BernoulliLogits, Laplace};
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::mode::LbfgsSearch;
use sgmcmc::prelude::*;
use sgmcmc::schedule::Polynomial;

use crate::Result;
use crate::papers::data_directory;
use crate::papers::data_files::or_synthetic;
use crate::papers::figure::{self, Axis, Panel, Series};
use crate::papers::flags::Flags;
use crate::papers::stages::Stages;

const MINIBATCH: usize = 10;
const COVARIATES: usize = 123;
/// The times of the evaluations along a run, in sweeps.
const SWEEPS: [f64; 11] = [0.0, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 9.0, 10.0];
/// The index of the evaluation after the first sweep.
const FIRST_SWEEP: usize = 3;

#[derive(TensorTree)]
struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

/// Runs the replication.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "SGLD on a logistic regression of incomes.")?;
    let runs: u64 = flags.get("runs", 50, "runs, each with its own split")?;
    let h = flags.get("step", 5e-5, "the first step size")?;
    let dir = data_directory(&mut flags)?;
    let figure = flags.get("figure", "target/sgld_a9a.svg".to_owned(), "file of the figure")?;
    let stages = Stages::new(&flags.finish()?);
    let data = or_synthetic(datasets::a9a(&dir), || datasets::a9a_like(32_561, 1))?.train;
    let model = Model::new(|w: Weights, r: Labeled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias).sum());
    let start = Weights { bias: zeros([1]), beta: zeros([COVARIATES]) };

    let (mut joints, mut accuracies) = (vec![Vec::new(); SWEEPS.len()], vec![Vec::new(); SWEEPS.len()]);
    let mut modes = Vec::new();
    for run in 0..runs {
        stages.begin(&format!("run {} of {runs}", run + 1));
        let (train, test) = data.split(0.8, run)?;
        let n = train.observations();
        let steps = Polynomial { a: h * 1000.0_f64.powf(0.55), b: 1000.0, gamma: 0.55 };
        let gradient = MinibatchGradient::new(WithoutReplacement::new(MINIBATCH));
        let mut sampler = Builder::new(model.with(&train), Sgld, gradient, steps).seed(run).start(&start)?;
        let mut tester = model.with(&test).evaluator(&start)?;
        let mut terms = vec![0.0; test.observations()];
        let mode = LbfgsSearch::default().run(sampler.chain().evaluator(), &[0.0; COVARIATES + 1])?;
        modes.push(mode.log_posterior / n as f64);
        for (evaluation, sweeps) in SWEEPS.iter().enumerate() {
            while (sampler.info().iterations as f64) < sweeps * n as f64 / MINIBATCH as f64 {
                sampler.step()?;
            }
            let theta = sampler.coordinates().to_vec();
            let evaluator = sampler.chain().evaluator();
            joints[evaluation].push(evaluator.log_density(&theta, evaluator.all_rows())? / n as f64);
            tester.log_likelihood_per_observation(&theta, tester.all_rows(), &mut terms)?;
            // A prediction is correct if the probability of its label is above one half. It counts as half correct at
            // one half.
            let correct = |term: &f64| {
                0.5 + 0.5 * if (term.exp() - 0.5).abs() < 1e-9 { 0.0 } else { (term.exp() - 0.5).signum() }
            };
            let correct: f64 = terms.iter().map(correct).sum();
            accuracies[evaluation].push(correct / terms.len() as f64);
        }
    }
    println!(
        "\n{runs} runs, mean and standard deviation\n{:>7} {:>24} {:>20}",
        "sweeps", "log joint per obs.", "accuracy"
    );
    for (evaluation, sweeps) in SWEEPS.iter().enumerate() {
        let ((joint, joint_sd), (accuracy, accuracy_sd)) =
            (moments(&joints[evaluation]), moments(&accuracies[evaluation]));
        println!("{sweeps:>7} {joint:>15.4} ±{joint_sd:>7.4} {accuracy:>11.4} ±{accuracy_sd:>7.4}");
    }
    let at = |values: &[Vec<f64>], evaluation: usize| moments(&values[evaluation]).0;
    let (last, mode) = (SWEEPS.len() - 1, moments(&modes).0);
    let remaining = (mode - at(&joints, last)) / (mode - at(&joints, 0));
    let gap = at(&accuracies, last) - at(&accuracies, FIRST_SWEEP);
    println!("{:>7} {mode:>15.4}\n", "mode");
    let panel = |title: &'static str, values: &[Vec<f64>]| {
        let points = SWEEPS.iter().enumerate().map(|(evaluation, sweeps)| (*sweeps, at(values, evaluation))).collect();
        let mean = Series { name: "mean".into(), color: 0, dots: false, points };
        let points =
            SWEEPS.iter().zip(values).flat_map(|(sweeps, values)| values.iter().map(|value| (*sweeps, *value)));
        let runs = Series { name: "single runs".into(), color: 1, dots: true, points: points.collect() };
        let (x, y) = (Axis { label: "sweeps", log: false }, Axis { label: title, log: false });
        Panel { title: title.into(), x, y, series: vec![runs, mean] }
    };
    let panels = [panel("log joint per observation", &joints), panel("accuracy on the test set", &accuracies)];
    figure::save(&figure, &panels)?;
    let mut failed = 0;
    let mut claim = |claim: String, holds: bool| {
        failed += usize::from(!holds);
        println!("{claim}: {}", if holds { "pass" } else { "FAIL" });
    };
    claim(
        format!("after ten sweeps {remaining:.3} of the difference between start and mode remains, below 0.05"),
        remaining < 0.05,
    );
    claim(format!("accuracy after one sweep is {gap:.4} below that after ten, below 0.005"), gap < 0.005);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}

/// Returns the mean and the standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt())
}
