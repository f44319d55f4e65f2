//! Runs on sequences.

use sgmcmc::Engine;
use sgmcmc::prelude::*;
use sgmcmc::sequence::Subsequences;
use sgmcmc_testkit::sequences::{Form, SEQUENTIAL, on_windows};

use super::data;

#[test]
fn equal_seeds_give_equal_draws() {
    let case = &SEQUENTIAL[1];
    let start = array(case.theta.to_vec(), [3]).unwrap();
    let draws = |form: Form| {
        let run = hmc(&case.model(form), &data(4, 30), 0.05).chains(2).seed(3);
        let fit = run.sample(&start, 20).unwrap();
        (fit.mean_values(), fit.sd_values())
    };
    assert_eq!(draws(Form::Scan), draws(Form::Scan));
}

#[test]
fn many_series_factorize() {
    // The mean of the gradients of all minibatches of one series, rescaled, is the gradient of all series.
    let case = &SEQUENTIAL[2];
    let start = array(case.theta.to_vec(), [4]).unwrap();
    let data = data(6, 25);
    let posterior = case.model(Form::Scan).with(&data).engine(Engine::Compiled);
    let mut evaluator = posterior.evaluator(&start).unwrap();
    let mut whole = vec![0.0; 4];
    evaluator.likelihood(case.theta, sgmcmc::data::Rows::range(0..6), &mut whole).unwrap();
    let mut sum = vec![0.0; 4];
    for row in 0..6 {
        evaluator.likelihood(case.theta, sgmcmc::data::Rows::list(&[row]), &mut sum).unwrap();
    }
    super::close(&sum, &whole, 1e-12, "sum over series");
}

#[test]
fn bias_of_subsequences_decays_with_the_buffer() {
    const STEPS: usize = 600;
    let theta = [1.2, -0.5, 0.3];
    let series = array(sgmcmc_testkit::sequences::series(STEPS, 3), [STEPS]).unwrap();
    let gradient = |options: Subsequences| {
        let windows = options.of(series.clone()).unwrap();
        let n = windows.observations();
        let posterior = Model::new(on_windows).with(&windows).engine(Engine::Compiled);
        let mut evaluator = posterior.evaluator(&array(theta.to_vec(), [3]).unwrap()).unwrap();
        let mut gradient = vec![0.0; 3];
        evaluator.likelihood(&theta, sgmcmc::data::Rows::range(0..n), &mut gradient).unwrap();
        gradient
    };
    let exact = gradient(Subsequences::new(STEPS));
    let error = |buffer: usize| {
        let found = gradient(Subsequences::new(20).buffer(buffer));
        found.iter().zip(&exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    // An error of the state is multiplied by φ (1 − K) in each step, where K is the gain of the stationary filter. The
    // derivative of its power B has the factor B.
    let (phi, q, r) = (theta[0].tanh(), theta[1].exp(), theta[2].exp());
    let variance = (0..200).fold(1.0, |p: f64, _| phi * phi * p * r / (p + r) + q);
    let rate = phi * r / (variance + r);
    let without = error(0);
    assert!(without > 1e-2, "{without}");
    for buffer in [4, 8, 12, 16, 24, 32] {
        let (found, steps) = (error(buffer), buffer as f64);
        let bound = 2.0 * (1.0 + steps) * rate.powf(steps) * without;
        assert!(found < bound, "buffer {buffer}: {found} above {bound}");
    }
}

#[test]
fn minibatches_of_subsequences_are_unbiased_for_their_sum() {
    let series = array(sgmcmc_testkit::sequences::series(90, 3), [90]).unwrap();
    let windows = Subsequences::new(10).buffer(5).of(series).unwrap();
    let posterior = Model::new(on_windows).with(&windows).engine(Engine::Compiled);
    let theta = [1.2, -0.5, 0.3];
    let mut evaluator = posterior.evaluator(&array(theta.to_vec(), [3]).unwrap()).unwrap();
    let (mut whole, mut sum) = (vec![0.0; 3], vec![0.0; 3]);
    evaluator.likelihood(&theta, sgmcmc::data::Rows::range(0..9), &mut whole).unwrap();
    for row in 0..9 {
        evaluator.likelihood(&theta, sgmcmc::data::Rows::list(&[row]), &mut sum).unwrap();
    }
    super::close(&sum, &whole, 1e-11, "sum over windows");
}
