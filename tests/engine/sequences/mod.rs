//! Loops over time: the engines against each other, repeated operations, gradients by hand and differences.

mod distributions;
mod mistakes;
mod runs;

use sgmcmc::Engine;
use sgmcmc::data::Rows;
use sgmcmc::prelude::*;
use sgmcmc::sequence::{iterate, scan};
use sgmcmc_testkit::differences::central_differences;
use sgmcmc_testkit::sequences::{Form, SEQUENTIAL, garch_by_hand, hidden_markov_by_hand, series};

fn data(rows: usize, steps: usize) -> Dataset<Tensor<2>> {
    let values: Vec<f64> = (0..rows).flat_map(|row| series(steps, row)).collect();
    Dataset::new(array(values, [rows, steps]).unwrap()).unwrap()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * scale, "{what}: {found} for {expected}");
    }
}

#[test]
fn engines_and_repeated_operations_agree() {
    for case in &SEQUENTIAL {
        for (rows, steps) in [(3, 9), (1, 1), (2, 2)] {
            let data = data(rows, steps);
            let start = array(case.theta.to_vec(), [case.theta.len()]).unwrap();
            let theta: Vec<f64> = case.theta.iter().map(|x| x + 0.1).collect();
            let mut results = vec![];
            for (form, engine) in
                [(Form::Repeated, Engine::Compiled), (Form::Scan, Engine::Compiled), (Form::Scan, Engine::Eager)]
            {
                let what = format!("{} with {rows} series of {steps} steps, {form:?}, {engine:?}", case.name);
                let posterior = case.model(form).with(&data).engine(engine);
                let mut evaluator = posterior.evaluator(&start).unwrap_or_else(|error| panic!("{what}: {error}"));
                let mut gradient = vec![0.0; theta.len()];
                let value = evaluator.posterior(&theta, Rows::range(0..rows), &mut gradient).unwrap();
                let mut terms = vec![0.0; rows];
                evaluator.log_likelihood_per_observation(&theta, Rows::range(0..rows), &mut terms).unwrap();
                let differences = central_differences(&mut *evaluator, &theta, Rows::range(0..rows)).unwrap();
                close(&gradient, &differences, 1e-6, &what);
                let mut each = vec![0.0; rows * theta.len()];
                evaluator.gradient_per_observation(&theta, Rows::range(0..rows), &mut each).unwrap();
                results.push((what, [vec![value], gradient, terms, each].concat()));
            }
            for (what, found) in &results[1..] {
                close(found, &results[0].1, 1e-9, what);
            }
        }
    }
}

#[test]
fn gradients_by_hand() {
    let y = series(300, 0);
    let data = data(1, 300);
    let (mut path, mut weights) = (vec![], vec![]);
    for index in [1, 2] {
        let case = &SEQUENTIAL[index];
        let start = array(case.theta.to_vec(), [case.theta.len()]).unwrap();
        let posterior = case.model(Form::Scan).with(&data).engine(Engine::Compiled);
        let mut evaluator = posterior.evaluator(&start).unwrap();
        let (mut found, mut expected) = (vec![0.0; case.theta.len()], vec![0.0; case.theta.len()]);
        let value = evaluator.likelihood(case.theta, Rows::range(0..1), &mut found).unwrap();
        let by_hand = if index == 1 {
            garch_by_hand(case.theta, &y, &mut path, &mut expected)
        } else {
            hidden_markov_by_hand(case.theta, &y, &mut weights, &mut expected)
        };
        close(&[value], &[by_hand], 1e-11, case.name);
        close(&found, &expected, 1e-10, case.name);
    }
}

#[test]
fn size_of_the_program_does_not_depend_on_the_number_of_steps() {
    let explained = |case: &sgmcmc_testkit::sequences::Sequential, steps: usize| {
        let start = array(case.theta.to_vec(), [case.theta.len()]).unwrap();
        let text = case.model(Form::Scan).with(&data(1, steps)).explain(&start).unwrap();
        assert!(text.starts_with("compiled"), "{}: {text}", case.name);
        assert!(text.contains("tiles of 1 rows"), "{text}");
        text.lines().filter(|line| !line.contains("KiB")).collect::<Vec<_>>().join("\n")
    };
    for case in &SEQUENTIAL {
        assert_eq!(explained(case, 50), explained(case, 3000), "{}", case.name);
    }
}

#[test]
fn loops_in_densities() {
    // The path of a random walk is a parameter; its scale doubles in an inner recursion of fixed length.
    let model = Model::density(|(path, scale): (Tensor<1>, Tensor<1>)| {
        let grown = iterate(scale.clone(), 5, 0, |s: Tensor<1>| ((s.clone() * 1.1).tanh() + s, ())).last;
        let steps = scan(path.clone().narrow(0, 0, 1) * 0.0, path, 0, |before: Tensor<1>, now: Tensor<1>| {
            (now.clone(), (now - before.clone() * 0.9).square() * -0.5)
        });
        (steps.outputs * grown.exp()).sum() - scale.square().sum()
    });
    let start = (array(series(12, 1), [12]).unwrap(), array(vec![0.2], [1]).unwrap());
    let theta: Vec<f64> = series(12, 2).into_iter().chain([0.3]).collect();
    let mut results = vec![];
    for engine in [Engine::Compiled, Engine::Eager] {
        let posterior = model.with(&Dataset::none()).engine(engine);
        let mut evaluator = posterior.evaluator(&start).unwrap();
        let mut gradient = vec![0.0; 13];
        let value = evaluator.posterior(&theta, Rows::range(0..0), &mut gradient).unwrap();
        let differences = central_differences(&mut *evaluator, &theta, Rows::range(0..0)).unwrap();
        close(&gradient, &differences, 1e-6, "differences");
        gradient.push(value);
        results.push(gradient);
    }
    close(&results[0], &results[1], 1e-10, "engines");
}

#[test]
fn single_precision() {
    for case in &SEQUENTIAL {
        let values: Vec<f32> = (0..40).flat_map(|row| series(20, row)).map(|x| x as f32).collect();
        let single = Dataset::new(array(values, [40, 20]).unwrap()).unwrap();
        let start = array(case.theta.to_vec(), [case.theta.len()]).unwrap();
        let mut gradients = vec![];
        for data in [single, data(40, 20)] {
            let mut evaluator = case.model(Form::Scan).with(&data).engine(Engine::Compiled).evaluator(&start).unwrap();
            let mut gradient = vec![0.0; case.theta.len()];
            evaluator.posterior(case.theta, Rows::range(0..40), &mut gradient).unwrap();
            gradients.push(gradient);
        }
        close(&gradients[0], &gradients[1], 1e-3, case.name);
    }
}
