//! Gradient estimators: unbiased, with the variance theory gives them, and equal to the exact gradient where they must be.

use std::sync::Arc;

use sgmcmc::data::Rows;
use sgmcmc::gradient::Oracle;
use sgmcmc::gradient::Recenter;
use sgmcmc::gradient::Target;
use sgmcmc::gradient::{
    ControlVariate, Evaluator, FullGradient, GradientEstimator, GradientNoise, MinibatchGradient, Saga, Svrg,
};
use sgmcmc::minibatch::{BatchSize, Epochs, Weighted, WithReplacement, WithoutReplacement};
use sgmcmc::minibatch::{Minibatch, Scheme};
use sgmcmc::rng::ChainRng;
use sgmcmc_testkit::models::logistic::Logistic;
use sgmcmc_testkit::models::{Case, normals};
use sgmcmc_testkit::relative_error;

const N: usize = 200;
const BATCH: usize = 20;
const DRAWS: usize = 20_000;
const DIM: usize = 6;

fn evaluator() -> Box<dyn Evaluator> {
    let simulated = Logistic::simulate(N, 11);
    simulated.by_hand.evaluator(&simulated.start).unwrap()
}

/// Where estimates are made, and where estimators with a memory have their center or table.
fn points() -> (Vec<f64>, Vec<f64>) {
    let theta = normals(DIM, 1);
    let elsewhere = theta.iter().zip(normals(DIM, 2)).map(|(theta, z)| theta + 0.3 * z).collect();
    (theta, elsewhere)
}

fn exact(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; theta.len()];
    evaluator.posterior(theta, evaluator.all_rows(), &mut gradient).unwrap();
    gradient
}

fn weights() -> Vec<f64> {
    normals(N, 5).iter().map(|z| 0.2 + z.abs()).collect()
}

/// The noise at θ of an estimator that was started elsewhere.
fn noise<G: GradientEstimator>(estimator: &G) -> GradientNoise {
    let mut evaluator = evaluator();
    let (theta, elsewhere) = points();
    let mut state = estimator.init(&elsewhere, evaluator.as_mut()).unwrap();
    GradientNoise::measure_from(estimator, &mut state, evaluator.as_mut(), &theta, DRAWS, 17).unwrap()
}

fn assert_unbiased<G: GradientEstimator>(estimator: &G) {
    let noise = noise(estimator);
    let bias = noise.bias_in_standard_errors();
    assert!(bias < 5.0, "off by {bias} standard errors");
    assert!(noise.total_variance() > 0.0, "no noise at all: the test would not see a bias");
}

#[test]
fn minibatch_gradients_are_unbiased_under_every_scheme() {
    assert_unbiased(&MinibatchGradient::new(WithoutReplacement::new(BATCH)));
    assert_unbiased(&MinibatchGradient::new(WithReplacement::new(BATCH)));
    // 17 does not divide 200: the last minibatch of an epoch is shorter.
    assert_unbiased(&MinibatchGradient::new(Epochs::new(17)));
    assert_unbiased(&MinibatchGradient::new(Weighted::new(BATCH, weights()).unwrap()));
}

#[test]
fn control_variates_are_unbiased_under_every_scheme() {
    assert_unbiased(&ControlVariate::new(WithoutReplacement::new(BATCH)));
    assert_unbiased(&ControlVariate::new(WithReplacement::new(BATCH)));
    assert_unbiased(&ControlVariate::new(Epochs::new(17)));
    assert_unbiased(&ControlVariate::new(Weighted::new(BATCH, weights()).unwrap()));
}

#[test]
fn svrg_and_saga_are_unbiased() {
    assert_unbiased(&Svrg::new(WithoutReplacement::new(BATCH), 10));
    assert_unbiased(&Saga::new(WithoutReplacement::new(BATCH)));
    assert_unbiased(&Saga::new(WithReplacement::new(BATCH)));
    assert_unbiased(&Saga::new(Weighted::new(BATCH, weights()).unwrap()));
}

/// Σ (aᵢ − ā)² of each coordinate of the single gradients, and the gradients.
fn spread(theta: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut evaluator = evaluator();
    let mut gradients = vec![0.0; N * DIM];
    evaluator.gradient_per_observation(theta, evaluator.all_rows(), &mut gradients).unwrap();
    let spread = (0..DIM).map(|j| {
        let values = gradients.iter().skip(j).step_by(DIM);
        let mean = values.clone().sum::<f64>() / N as f64;
        values.map(|value| (value - mean).powi(2)).sum()
    });
    (spread.collect(), gradients)
}

fn assert_variance(found: &[f64], expected: impl Fn(usize) -> f64) {
    for (j, found) in found.iter().enumerate() {
        let ratio = found / expected(j);
        assert!((ratio - 1.0).abs() < 0.05, "coordinate {j}: {ratio} times the variance it should have");
    }
}

#[test]
fn minibatch_variance_is_the_closed_form() {
    let (theta, _) = points();
    let (spread, gradients) = spread(&theta);
    let (all, n) = (N as f64, BATCH as f64);
    let variance = |scheme: GradientNoise| scheme.variance().to_vec();

    let without = variance(noise(&MinibatchGradient::new(WithoutReplacement::new(BATCH))));
    assert_variance(&without, |j| all * (all - n) / n * spread[j] / (all - 1.0));
    let epochs = variance(noise(&MinibatchGradient::new(Epochs::new(BATCH))));
    assert_variance(&epochs, |j| all * (all - n) / n * spread[j] / (all - 1.0));
    let with = variance(noise(&MinibatchGradient::new(WithReplacement::new(BATCH))));
    assert_variance(&with, |j| all * all / n * spread[j] / all);

    let scheme = Weighted::new(BATCH, weights()).unwrap();
    let p = scheme.probabilities().to_vec();
    let weighted = variance(noise(&MinibatchGradient::new(scheme)));
    assert_variance(&weighted, |j| {
        let column = || gradients.iter().skip(j).step_by(DIM);
        let second: f64 = column().zip(&p).map(|(a, p)| a * a / p).sum();
        (second - column().sum::<f64>().powi(2)) / n
    });
}

#[test]
fn control_variate_at_its_center_is_the_full_gradient() {
    let mut evaluator = evaluator();
    let (theta, _) = points();
    let exact = exact(evaluator.as_mut(), &theta);
    for estimator in [
        ControlVariate::new(WithoutReplacement::new(BATCH)),
        ControlVariate::new(WithoutReplacement::new(1)).with_center(theta.clone()),
    ] {
        let noise = GradientNoise::measure(&estimator, evaluator.as_mut(), &theta, 50, 3).unwrap();
        assert!(relative_error(noise.mean(), &exact) < 1e-14);
        assert!(noise.total_variance() < 1e-24);
    }
}

#[test]
fn all_observations_without_replacement_are_the_full_gradient() {
    let mut evaluator = evaluator();
    let (theta, elsewhere) = points();
    let exact = exact(evaluator.as_mut(), &theta);
    let mut estimate = vec![0.0; DIM];
    for size in [BatchSize::from(N), BatchSize::from(1.0)] {
        let estimator = MinibatchGradient::new(WithoutReplacement::new(size));
        let mut oracle = Oracle::new(estimator, self::evaluator(), &elsewhere, ChainRng::new(1, 0)).unwrap();
        oracle.gradient(&theta, &mut estimate).unwrap();
        assert!(relative_error(&estimate, &exact) < 1e-12);
    }
    let mut oracle = Oracle::new(FullGradient, self::evaluator(), &elsewhere, ChainRng::new(1, 0)).unwrap();
    oracle.gradient(&theta, &mut estimate).unwrap();
    assert_eq!(estimate, exact);
}

#[test]
fn svrg_renews_its_center_every_period() {
    let mut evaluator = evaluator();
    let estimator = Svrg::new(WithoutReplacement::new(3), 4);
    let mut oracle = Oracle::new(estimator, self::evaluator(), &normals(DIM, 0), ChainRng::new(1, 0)).unwrap();
    let mut estimate = vec![0.0; DIM];
    for step in 0..13 {
        let theta = normals(DIM, step);
        oracle.gradient(&theta, &mut estimate).unwrap();
        let error = relative_error(&estimate, &exact(evaluator.as_mut(), &theta));
        // The center is the current point at the start and after every fourth estimate.
        assert_eq!(error < 1e-12, step % 4 == 0, "step {step}: error {error}");
    }
    let every_step = Svrg::new(WithoutReplacement::new(1), 1);
    let mut oracle = Oracle::new(every_step, self::evaluator(), &normals(DIM, 9), ChainRng::new(1, 0)).unwrap();
    for step in 10..15 {
        let theta = normals(DIM, step);
        oracle.gradient(&theta, &mut estimate).unwrap();
        if step > 10 {
            assert!(relative_error(&estimate, &exact(evaluator.as_mut(), &theta)) < 1e-12);
        }
    }
}

#[test]
fn control_variate_recenters_at_the_mean_of_the_points_visited() {
    let estimator = ControlVariate::new(WithoutReplacement::new(3)).recenter(Recenter::EveryAtMean(2));
    let mut oracle = Oracle::new(estimator, evaluator(), &normals(DIM, 0), ChainRng::new(1, 0)).unwrap();
    let mut estimate = vec![0.0; DIM];
    let (a, b) = (normals(DIM, 1), normals(DIM, 2));
    oracle.gradient(&a, &mut estimate).unwrap();
    oracle.gradient(&b, &mut estimate).unwrap();
    let mean: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
    oracle.gradient_same_batch(&mean, &mut estimate).unwrap();
    assert!(relative_error(&estimate, &exact(evaluator().as_mut(), &mean)) < 1e-12);
}

#[test]
fn saga_learns_the_gradients_it_has_seen() {
    let (theta, elsewhere) = points();
    let estimator = Saga::new(WithReplacement::new(BATCH));
    let mut oracle = Oracle::new(estimator, evaluator(), &elsewhere, ChainRng::new(1, 0)).unwrap();
    let exact = exact(evaluator().as_mut(), &theta);
    let (mut first, mut estimate) = (vec![0.0; DIM], vec![0.0; DIM]);
    oracle.gradient(&theta, &mut first).unwrap();
    assert!(relative_error(&first, &exact) > 1e-3);
    // The same minibatch at another point and back: the table has not moved in between.
    oracle.gradient_same_batch(&elsewhere, &mut estimate).unwrap();
    oracle.gradient_same_batch(&theta, &mut estimate).unwrap();
    assert_eq!(first, estimate);
    // After 300 minibatches of 20 every row was seen but with probability 200 · 0.995⁶⁰⁰⁰ < 1e-10.
    for _ in 0..300 {
        oracle.gradient(&theta, &mut estimate).unwrap();
    }
    assert!(relative_error(&estimate, &exact) < 1e-11);
}

#[test]
fn saga_refuses_a_table_that_is_too_large() {
    let estimator = Saga { memory_limit: 5000, ..Saga::new(WithoutReplacement::new(BATCH)) };
    let error = estimator.init(&[0.0; DIM], evaluator().as_mut()).unwrap_err().to_string();
    assert!(error.contains("200 gradients of length 6 needs 9.4 KiB but the limit is 4.9 KiB"), "{error}");
}

#[test]
fn estimates_again_use_common_random_numbers() {
    let (theta, elsewhere) = points();
    let estimator = MinibatchGradient::new(WithoutReplacement::new(BATCH));
    let mut oracle = Oracle::new(estimator, evaluator(), &theta, ChainRng::new(1, 0)).unwrap();
    let (mut here, mut there, mut back) = (vec![0.0; DIM], vec![0.0; DIM], vec![0.0; DIM]);
    oracle.gradient(&theta, &mut here).unwrap();
    oracle.gradient_same_batch(&elsewhere, &mut there).unwrap();
    oracle.gradient_same_batch(&theta, &mut back).unwrap();
    assert_eq!(here, back);
    assert_ne!(here, there);
    oracle.gradient(&theta, &mut back).unwrap();
    assert_ne!(here, back);
    assert_eq!(oracle.state().estimates, 4);
}

#[test]
fn the_value_is_an_estimate_of_the_log_posterior() {
    fn check<G: GradientEstimator>(estimator: G) {
        let (theta, elsewhere) = points();
        let mut oracle = Oracle::new(estimator, evaluator(), &elsewhere, ChainRng::new(2, 0)).unwrap();
        let exact = oracle.evaluator().log_density(&theta, Rows::range(0..N)).unwrap();
        let mut gradient = vec![0.0; DIM];
        let values: Vec<f64> = (0..4000).map(|_| oracle.gradient(&theta, &mut gradient).unwrap()).collect();
        let mean = values.iter().sum::<f64>() / 4000.0;
        let error = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt() / 4000.0;
        assert!((mean - exact).abs() < 5.0 * error, "{mean} ± {error} against {exact}");
    }
    check(MinibatchGradient::new(WithoutReplacement::new(BATCH)));
    check(ControlVariate::new(WithoutReplacement::new(BATCH)));
    check(Saga::new(WithoutReplacement::new(BATCH)));
}

/// Thesis §3.3.2: at the distance of a posterior standard deviation from the center, the ratio of the variances of the
/// minibatch gradient and of the control variate grows linearly in N.
#[test]
fn the_gain_of_control_variates_grows_linearly_in_n() {
    let sizes = [1_000, 10_000, 100_000, 1_000_000];
    let center = vec![0.3, 1.0, -0.5, 0.25, 0.0, -1.0];
    let reductions = sizes.map(|n| {
        let simulated = Logistic::simulate(n, 21);
        let mut evaluator = simulated.by_hand.evaluator(&simulated.start).unwrap();
        let theta: Vec<f64> =
            center.iter().zip(normals(DIM, 4)).map(|(center, z)| center + z / (n as f64).sqrt()).collect();
        let plain = MinibatchGradient::new(WithoutReplacement::new(100));
        let controlled = ControlVariate::new(WithoutReplacement::new(100)).with_center(center.clone());
        let plain = GradientNoise::measure(&plain, evaluator.as_mut(), &theta, 2000, 1).unwrap();
        let controlled = GradientNoise::measure(&controlled, evaluator.as_mut(), &theta, 2000, 2).unwrap();
        controlled.reduction_from(&plain).total
    });
    let slope = (reductions[3] / reductions[0]).log10() / 3.0;
    assert!((slope - 1.0).abs() < 0.05, "slope {slope} of {reductions:?}");
}

#[test]
fn the_state_of_an_oracle_survives_serialization() {
    fn check<G: GradientEstimator>(estimator: G) {
        let estimator = Arc::new(estimator);
        let (theta, elsewhere) = points();
        let mut oracle = Oracle::shared(estimator.clone(), evaluator(), &elsewhere, ChainRng::new(2, 1)).unwrap();
        let (mut expected, mut found) = (vec![0.0; DIM], vec![0.0; DIM]);
        for _ in 0..7 {
            oracle.gradient(&theta, &mut expected).unwrap();
        }
        let saved = serde_json::to_string(oracle.state()).unwrap();
        let mut resumed = Oracle::shared(estimator, evaluator(), &theta, ChainRng::new(9, 9)).unwrap();
        resumed.restore(serde_json::from_str(&saved).unwrap());
        for _ in 0..15 {
            oracle.gradient_same_batch(&elsewhere, &mut expected).unwrap();
            resumed.gradient_same_batch(&elsewhere, &mut found).unwrap();
            assert_eq!(expected, found);
            oracle.gradient(&theta, &mut expected).unwrap();
            resumed.gradient(&theta, &mut found).unwrap();
            assert_eq!(expected, found);
        }
    }
    check(MinibatchGradient::new(WithoutReplacement::new(BATCH)));
    check(MinibatchGradient::new(WithReplacement::new(BATCH)));
    check(MinibatchGradient::new(Epochs::new(17)));
    check(MinibatchGradient::new(Weighted::new(BATCH, weights()).unwrap()));
    check(ControlVariate::new(WithoutReplacement::new(BATCH)).recenter(Recenter::EveryAtMean(5)));
    check(Svrg::new(WithoutReplacement::new(BATCH), 5));
    check(Saga::new(WithoutReplacement::new(BATCH)));
    check(FullGradient);
}

#[test]
fn first_minibatches_are_pinned() {
    fn first<S: Scheme>(scheme: &S) -> Vec<usize> {
        let mut state = scheme.init(N).unwrap();
        let mut batch = Minibatch::default();
        scheme.draw(&mut state, ChainRng::new(13, 0).minibatch(), &mut batch);
        batch.rows
    }
    let drawn = [
        first(&WithoutReplacement::new(5)),
        first(&WithReplacement::new(5)),
        first(&Epochs::new(5)),
        first(&Weighted::new(5, weights()).unwrap()),
    ];
    let pinned = [[55, 63, 146, 156, 129], [55, 63, 146, 156, 129], [107, 50, 49, 177, 185], [52, 82, 91, 154, 45]];
    assert_eq!(drawn, pinned);
}
