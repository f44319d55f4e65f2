//! Gradients of sequence models, relative to loops written by hand, and the time to make an evaluator.
//!
//! | criterion | bound |
//! |---|---|
//! | the time of a gradient | at most 5 times that of a loop with its gradient written by hand, for each number of steps |
//! | the time to make an evaluator | below 50 ms for 10 000 steps |

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use sgmcmc::Engine;
use sgmcmc::data::Rows;
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;
use sgmcmc::sequence::Subsequences;
use sgmcmc_testkit::sequences::{
    Form, SEQUENTIAL, Sequential, garch_by_hand, hidden_markov_by_hand, on_windows, series,
};

/// The numbers of steps.
const STEPS: [usize; 3] = [200, 1000, 10_000];
/// The number of rounds. The smallest time of a round counts.
const ROUNDS: usize = 15;
/// The steps of all gradients of a round.
const WORK: usize = 400_000;
/// The largest time of a gradient, relative to the loop written by hand.
const MAX_RATIO: f64 = 5.0;
/// The milliseconds to make an evaluator must be below this.
const MAX_BUILD: f64 = 50.0;
/// The indices of the models with a gradient written by hand.
const MODELS: [usize; 2] = [1, 2];

/// Prints a row for each model and number of steps.
///
/// # Errors
///
/// Returns an error if a criterion fails.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    println!(
        "{:<22} {:>7} {:>12} {:>12} {:>7} {:>10}",
        "model", "steps", "compiled µs", "by hand µs", "ratio", "build ms"
    );
    let mut failures = 0;
    for model in MODELS {
        for steps in STEPS {
            let case = &SEQUENTIAL[model];
            let y = series(steps, 0);
            let (mut evaluator, build) = built(case, &y)?;
            let [compiled, by_hand] = measure(case, model, &y, &mut *evaluator)?;
            let ratio = compiled / by_hand;
            let holds = ratio <= MAX_RATIO && build < MAX_BUILD;
            failures += usize::from(!holds);
            let verdict = if holds { "pass" } else { "FAIL" };
            println!(
                "{:<22} {steps:>7} {compiled:>12.2} {by_hand:>12.2} {ratio:>7.2} {build:>10.2}  {verdict}",
                case.name
            );
        }
    }
    print_bias()?;
    if failures > 0 {
        return Err(format!("{failures} rows are above {MAX_RATIO} times the loop by hand, or {MAX_BUILD} ms").into());
    }
    Ok(())
}

/// Prints the relative error of the gradient of all subsequences of a series by the length of their buffers.
fn print_bias() -> Result<(), Box<dyn Error>> {
    const STEPS: usize = 10_000;
    let theta = [1.2, -0.5, 0.3];
    let y = array(series(STEPS, 3), [STEPS])?;
    let gradient = |options: Subsequences| -> Result<Vec<f64>, Box<dyn Error>> {
        let windows = options.of(y.clone())?;
        let all = windows.observations();
        let posterior = Model::new(on_windows).with(&windows).engine(Engine::Compiled);
        let mut gradient = vec![0.0; theta.len()];
        let mut evaluator = posterior.evaluator(&array(theta.to_vec(), [theta.len()])?)?;
        evaluator.likelihood(&theta, Rows::range(0..all), &mut gradient)?;
        Ok(gradient)
    };
    let size = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let exact = gradient(Subsequences::new(STEPS))?;
    println!(
        "\nsubsequences of 50 of {STEPS} steps of a Kalman filter\n{:>7} {:>28}",
        "buffer", "relative error of gradient"
    );
    for buffer in [0, 2, 4, 8, 12, 16, 24, 32] {
        let found = gradient(Subsequences::new(50).buffer(buffer))?;
        let error: Vec<f64> = found.iter().zip(&exact).map(|(a, b)| a - b).collect();
        println!("{buffer:>7} {:>28.2e}", size(&error) / size(&exact));
    }
    Ok(())
}

/// Makes an evaluator, and returns the smallest time in milliseconds of five.
fn built(case: &Sequential, y: &[f64]) -> Result<(Box<dyn Evaluator>, f64), Box<dyn Error>> {
    let start = array(case.theta.to_vec(), [case.theta.len()])?;
    let data = Dataset::new(array(y.to_vec(), [1, y.len()])?)?;
    let make = || case.model(Form::Scan).with(&data).engine(Engine::Compiled).evaluator(&start);
    let mut smallest = f64::INFINITY;
    for _ in 0..5 {
        let began = Instant::now();
        black_box(make()?);
        smallest = smallest.min(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok((make()?, smallest))
}

/// Returns the microseconds of a compiled gradient and of one by hand, measured in alternation.
fn measure(
    case: &Sequential,
    model: usize,
    y: &[f64],
    evaluator: &mut dyn Evaluator,
) -> Result<[f64; 2], Box<dyn Error>> {
    let calls = (WORK / y.len()).max(1);
    let (mut path, mut weights) = (vec![], vec![]);
    let mut gradient = vec![0.0; case.theta.len()];
    let mut smallest = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..calls {
            gradient.fill(0.0);
            black_box(evaluator.likelihood(black_box(case.theta), Rows::range(0..1), &mut gradient)?);
        }
        smallest[0] = smallest[0].min(began.elapsed().as_secs_f64());
        let began = Instant::now();
        for _ in 0..calls {
            gradient.fill(0.0);
            let theta = black_box(case.theta);
            black_box(if model == 1 {
                garch_by_hand(theta, y, &mut path, &mut gradient)
            } else {
                hidden_markov_by_hand(theta, y, &mut weights, &mut gradient)
            });
        }
        smallest[1] = smallest[1].min(began.elapsed().as_secs_f64());
    }
    Ok(smallest.map(|seconds| seconds * 1e6 / calls as f64))
}
