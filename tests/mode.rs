//! Finding the posterior mode.

use sgmcmc::mode::{Ending, Stop};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::NormalMean;
use sgmcmc_testkit::models::{Case, normals};
use sgmcmc_testkit::relative_error;

#[test]
fn adam_finds_the_mode_of_a_normal_mean() {
    let n = 5000;
    let simulated = NormalMean::simulate(n, 3);
    let evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let mode =
        ModeSearch::default().run(MinibatchGradient::new(WithoutReplacement::new(50)), evaluator, &[5.0]).unwrap();
    let precision = n as f64 + 0.01;
    let exact = normals(n, 3).iter().sum::<f64>() / precision;
    let distance = (mode.theta[0] - exact).abs() * precision.sqrt();
    assert!(distance < 0.1, "{distance} posterior standard deviations off");
    assert_eq!(mode.ending, Ending::Converged);
    assert!((mode.gradient_norm - precision * (mode.theta[0] - exact).abs()).abs() < 1e-6);
    assert!(mode.log_posterior > mode.start_log_posterior);
    assert!(mode.to_string().starts_with("converged after"), "{mode}");
}

#[test]
fn the_mode_of_a_regression_is_stationary() {
    let simulated = Logistic::simulate(2000, 3);
    let mut evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let estimator = Svrg::new(WithoutReplacement::new(100), 20);
    let again = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let mode = ModeSearch::default().run(estimator, again, &[0.0; 6]).unwrap();
    assert_eq!(mode.ending, Ending::Converged);
    // Each score has variance of order one, so that one posterior standard deviation off the gradient is about √2000 = 45.
    assert!(mode.gradient_norm < 3.0, "gradient norm {}", mode.gradient_norm);
    // No point nearby, a tenth of a posterior standard deviation off, is higher by more than the search's tolerance.
    let scale = 0.1 / 2000.0_f64.sqrt();
    for seed in 0..20 {
        let nearby: Vec<f64> = mode.theta.iter().zip(normals(6, seed)).map(|(theta, z)| theta + scale * z).collect();
        let gain = evaluator.log_density(&nearby, evaluator.all_rows()).unwrap() - mode.log_posterior;
        assert!(gain < 0.03, "a point {nearby:?} is higher by {gain}");
    }
}

/// A run on the full gradient looks for the mode on it, and starts there.
#[test]
fn runs_on_the_full_gradient_start_at_the_mode() {
    let simulated = Logistic::simulate(500, 3);
    let (model, data) = (logistic::model(), simulated.posterior.data().clone());
    let sampler = ula(&model, &data, 1e-4).find_mode(ModeSearch::default()).start(&simulated.start).unwrap();
    let evaluator = simulated.posterior.evaluator(&simulated.start).unwrap();
    let mode = ModeSearch::default().run(FullGradient, evaluator, &[0.0; 6]).unwrap();
    assert_eq!(mode.ending, Ending::Converged);
    assert_eq!(sampler.mode(), Some(&mode));
    assert_eq!(sampler.coordinates(), mode.theta);
}

#[test]
fn the_search_of_r_takes_exactly_its_steps() {
    let simulated = Logistic::simulate(100, 3);
    let mut evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let (start, step) = ([0.1; 6], 1e-3);
    let mut theta = start.to_vec();
    for _ in 0..50 {
        let mut g = [0.0; 6];
        evaluator.posterior(&theta, Rows::range(0..100), &mut g).unwrap();
        theta.iter_mut().zip(g).for_each(|(theta, g)| *theta += step * g);
    }
    let mode = ModeSearch::as_in_r(step, 50).run(FullGradient, evaluator, &start).unwrap();
    assert!(relative_error(&mode.theta, &theta) < 1e-12);
    assert_eq!((mode.iterations, mode.ending), (50, Ending::IterationLimit));
}

#[test]
fn one_step_of_adam_moves_each_element_by_its_step_size() {
    let simulated = Logistic::simulate(100, 3);
    let mut evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let mut g = [0.0; 6];
    evaluator.posterior(&[0.1; 6], Rows::range(0..100), &mut g).unwrap();
    let search = ModeSearch { max_iterations: 1, stop: Stop::Never, ..ModeSearch::default() };
    let mode = search.run(FullGradient, evaluator, &[0.1; 6]).unwrap();
    for (theta, g) in mode.theta.iter().zip(g) {
        assert!((theta - (0.1 + 0.05 * g.signum())).abs() < 1e-8);
    }
}

#[test]
fn a_search_that_diverges_names_the_parameter() {
    let simulated = Logistic::simulate(100, 3);
    let evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
    let error = ModeSearch::as_in_r(f64::INFINITY, 50).run(FullGradient, evaluator, &[0.1; 6]).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("`bias`") && message.contains("iteration 1") && message.contains("smaller step"),
        "{message}"
    );
}
