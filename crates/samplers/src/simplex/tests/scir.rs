//! SCIR against Theorem 5.4.1 and Corollary 5.4.2 of Baker (2019), with minibatches.

use sgmcmc_gradient::{ControlVariate, FullGradient, GradientEstimator, MinibatchGradient, WithoutReplacement};

use super::{assert_mean, categorical, mean, start};
use crate::chain::Chain;
use crate::simplex::{Counts, Scir, SimplexTarget};

/// The values of a. All are entries of one simplex.
const A: [f64; 4] = [0.01, 0.1, 1.0, 100.0];
/// The observations, and those of a minibatch.
const N: usize = 5;
const BATCH: usize = 2;
const REPLICATES: u64 = 12_000;

/// Half of a is in the prior. Observation i, counted from 1, has the share i/15 of the other half.
fn fractional() -> SimplexTarget {
    let counts: Vec<f64> = (0..N).flat_map(|i| A.map(|a| a * share(i))).collect();
    SimplexTarget::new(A.map(|a| 0.5 * a).to_vec(), Counts::from_rows(&counts, A.len()).unwrap()).unwrap()
}

fn share(i: usize) -> f64 {
    0.5 * (i + 1) as f64 / 15.0
}

/// The estimates â/a of all minibatches, which have the same probability.
fn estimates() -> Vec<f64> {
    let pairs = (0..N).flat_map(|i| (0..i).map(move |k| share(i) + share(k)));
    pairs.map(|sum| 0.5 + N as f64 / BATCH as f64 * sum).collect()
}

fn estimate_variance() -> f64 {
    let all = estimates();
    assert!((all.iter().sum::<f64>() / all.len() as f64 - 1.0).abs() < 1e-12);
    all.iter().map(|a| (a - 1.0).powi(2)).sum::<f64>() / all.len() as f64
}

/// Returns θ of independent chains after `steps` steps from θ = `from` · a.
fn replicates<G: GradientEstimator + Clone + std::fmt::Debug>(
    gradient: &G,
    h: f64,
    steps: usize,
    from: f64,
) -> Vec<[f64; 4]> {
    let (target, log_theta) = (fractional(), A.map(|a| (from * a).ln()));
    let chain = |seed| {
        let mut chain = start(&target, Scir, gradient.clone(), h, &log_theta, seed);
        (0..steps).for_each(|_| chain.step().unwrap());
        std::array::from_fn(|j| chain.position()[j].exp())
    };
    (0..REPLICATES).map(chain).collect()
}

fn minibatch() -> MinibatchGradient {
    MinibatchGradient::new(WithoutReplacement::new(BATCH))
}

/// Var θ_M of the exact process from θ₀ = `from` · a, and the term of the minibatches.
fn variances(a: f64, h: f64, steps: usize, from: f64) -> [f64; 2] {
    let (decay, one) = ((-(steps as f64) * h).exp(), (-h).exp());
    let process = 2.0 * from * a * (decay - decay * decay) + a * (1.0 - decay).powi(2);
    [process, (1.0 - decay * decay) * (1.0 - one) / (1.0 + one) * a * a * estimate_variance()]
}

#[test]
fn moments_are_those_of_corollary_5_4_2() {
    for h in [0.01, 0.5, 5.0] {
        for (steps, from) in [(1, 3.0), (3, 0.4)] {
            let draws = replicates(&minibatch(), h, steps, from);
            for (j, a) in A.into_iter().enumerate() {
                let decay = (-(steps as f64) * h).exp();
                let expected = from * a * decay + a * (1.0 - decay);
                let what = format!("a = {a}, h = {h}, {steps} steps");
                assert_mean(draws.iter().map(|theta| theta[j]), expected, &format!("mean, {what}"));
                let variance = variances(a, h, steps, from).iter().sum();
                let squares = draws.iter().map(|theta| (theta[j] - expected).powi(2));
                assert_mean(squares, variance, &format!("variance, {what}"));
            }
        }
    }
}

#[test]
fn the_moment_generating_function_is_that_of_theorem_5_4_1() {
    for h in [0.01, 0.5, 5.0] {
        let (steps, from) = (2, 1.5);
        let draws = replicates(&minibatch(), h, steps, from);
        for (j, a) in A.into_iter().enumerate() {
            for s in [-2.0, -0.5, 0.05].map(|s| s / (1.0 + a)) {
                let scale = |m: usize| 1.0 - s * (1.0 - (-(m as f64) * h).exp());
                let decay = (-(steps as f64) * h).exp();
                let mut expected = scale(steps).powf(-a) * (from * a * s * decay / scale(steps)).exp();
                for m in 1..=steps {
                    let ratio = scale(m) / scale(m - 1);
                    let terms = estimates().into_iter().map(|estimate| ratio.powf(-a * (estimate - 1.0)));
                    expected *= terms.sum::<f64>() / estimates().len() as f64;
                }
                assert_mean(draws.iter().map(|theta| (s * theta[j]).exp()), expected, &format!("{a} {h} {s}"));
            }
        }
    }
}

/// Control variates remove the term of the minibatches: Var is that of the exact process, which is smaller by a known
/// factor.
#[test]
fn control_variates_reduce_the_variance_by_the_predicted_factor() {
    let (h, steps, from) = (1.5, 4, 1.0);
    let plain = replicates(&minibatch(), h, steps, from);
    let reduced = replicates(&ControlVariate::new(WithoutReplacement::new(BATCH)), h, steps, from);
    for (j, a) in A.into_iter().enumerate() {
        let [process, added] = variances(a, h, steps, from);
        let decay = (-(steps as f64) * h).exp();
        let expected = from * a * decay + a * (1.0 - decay);
        let squares = |draws: &[[f64; 4]]| mean(draws.iter().map(|theta| (theta[j] - expected).powi(2)));
        let ((with, with_error), (without, without_error)) = (squares(&reduced), squares(&plain));
        assert!((with - process).abs() < 4.0 * with_error, "{with} of {process}");
        let predicted = (process + added) / process;
        let error = (without / with) * ((with_error / with).powi(2) + (without_error / without).powi(2)).sqrt();
        assert!((without / with - predicted).abs() < 4.0 * error, "{} of {predicted}", without / with);
        if a > 10.0 {
            assert!(predicted > 2.0 && without / with > 1.8, "the test has power: {predicted}");
        }
    }
}

/// θ from a draw of its stationary distribution has that distribution after any number of steps.
#[test]
fn the_posterior_is_stationary_at_every_step_size_with_all_observations() {
    let target = categorical(0.1, &[3, 7, 0]);
    let a = [3.1, 7.1, 0.1];
    for h in [0.01, 0.5, 5.0] {
        let mut draws = Vec::new();
        for seed in 0..4000 {
            let mut rng = sgmcmc_gradient::ChainRng::new(seed, 1);
            let exact = a.map(|a| crate::simplex::cir::log_gamma_variate(a, rng.noise()));
            let mut chain = start(&target, Scir, FullGradient, h, &exact, seed);
            (0..2).for_each(|_| chain.step().unwrap());
            draws.extend(chain.layout().values(chain.position()).unwrap());
        }
        let uniform = sgmcmc_diagnostics::distance::dirichlet_rosenblatt(&draws, &a).unwrap();
        for j in 0..2 {
            let column: Vec<f64> = uniform.iter().skip(j).step_by(2).copied().collect();
            let p_value = sgmcmc_diagnostics::distance::ks_one_sample(&column, |u| u).p_value;
            assert!(p_value > 1e-3, "{p_value} at h = {h}");
        }
    }
}

#[test]
fn tiny_shapes_stay_finite_and_positive() {
    let target = SimplexTarget::new(vec![1e-6; 3], Counts::from_labels(&[0; 20], 3).unwrap()).unwrap();
    for h in [1e-3, 0.5, 5.0] {
        let mut chain = start(&target, Scir, minibatch(), h, &[0.0, 0.0, 0.0], 1);
        for _ in 0..2000 {
            chain.step().unwrap();
            let values = chain.layout().values(chain.position()).unwrap();
            assert!(chain.position().iter().all(|x| x.is_finite()) && chain.info().log_posterior.is_finite());
            assert!(values.iter().all(|x| x.is_finite() && *x >= 0.0) && (values[0] - 1.0).abs() < 0.9);
        }
    }
}
