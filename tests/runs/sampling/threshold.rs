//! The sampling threshold: draws begin when α, the ratio of gradient noise to injected noise, is small enough.

use std::fmt::Debug;
use std::sync::Arc;

use sgmcmc::algorithms::{Baoab, Chain, ChainSpec, Dynamics, PreconditionedSgld, Sgld};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::{ControlVariate, GradientEstimator, MinibatchGradient};
use sgmcmc::minibatch::{WithReplacement, WithoutReplacement};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc::run::SamplingThreshold;
use sgmcmc_testkit::models::normal_mean::{self, NormalMean};
use sgmcmc_testkit::models::{Case, normals};

/// The α of a normal mean: h/4 times the variance of the gradient estimate, N(N − n)/n · s² without replacement.
fn exact_alpha(h: f64, n: usize) -> f64 {
    let x = normals(50, 1);
    let mean = x.iter().sum::<f64>() / 50.0;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 49.0;
    0.25 * h * (50 * (50 - n)) as f64 / n as f64 * variance
}

/// α falls with h; draws begin where it is small enough.
#[test]
fn draws_begin_at_the_sampling_threshold() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    let falling = |t: u64| 1e-2 / (1.0 + 0.1 * t as f64);
    let threshold = SamplingThreshold { alpha: 0.02, observations: 4000, every: 10, limit: 10_000 };
    let run = sgld(&model, &data, falling).minibatch(10).burn_in(20).sampling_threshold(threshold);
    let fit = run.sample(&zeros([1]), 5).unwrap();
    let chain = &fit.chains()[0];
    for ((alpha, iteration), weight) in chain.stat("alpha").unwrap().iter().zip(chain.iterations()).zip(chain.weights())
    {
        // A variance from 4000 terms is known to 2.2 %: four standard errors.
        let expected = exact_alpha(falling(iteration - 1), 10);
        assert!((alpha / expected - 1.0).abs() < 0.09, "iteration {iteration}: {alpha} against {expected}");
        assert!((weight / falling(iteration - 1) - 1.0).abs() < 1e-12);
    }
    let first = chain.iterations()[0];
    assert!(first > 21 && (first - 21) % 10 == 0, "the first draw is of iteration {first}");
    assert!(exact_alpha(falling(first - 2), 10) < 0.022 && exact_alpha(falling(first - 12), 10) > 0.018);

    let never = SamplingThreshold { alpha: 1e-9, limit: 50, ..threshold };
    let run = sgld(&model, &data, 1e-3).minibatch(10).sampling_threshold(never);
    let fit = run.sample(&zeros([1]), 5).unwrap();
    let ChainOutcome::Failed(error) = &fit.outcomes()[0] else { panic!("the threshold was reached") };
    assert!(error.to_string().contains("control variates"), "{error}");
}

/// α is that of the matrix and of the estimator of the run.
#[test]
fn the_sampling_threshold_knows_matrix_and_estimator() {
    let data = NormalMean::simulate(50, 1).posterior.data().clone();
    let alpha = |chain: &mut dyn Chain| chain.noise_ratio(4000).unwrap();
    fn chain<D, G>(data: &Dataset<Tensor<1>>, dynamics: D, gradient: G) -> impl Chain
    where
        D: Dynamics<G> + Debug,
        G: GradientEstimator + Debug,
    {
        let (dynamics, gradient) = (Arc::new(dynamics), Arc::new(gradient));
        let recipe = ChainSpec { dynamics, gradient, step_size: 1e-3.into(), temperature: 1.0.into() };
        let evaluator = normal_mean::model().with(data).evaluator(&zeros([1])).unwrap();
        recipe.start(evaluator, &[0.0], ChainRng::new(3, 0)).unwrap()
    }
    let close = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 0.09, "{found} against {expected}");
    };
    let batches = |n: usize| MinibatchGradient::new(WithoutReplacement::new(n));
    close(alpha(&mut chain(&data, Sgld, batches(10))), exact_alpha(1e-3, 10));
    let scaled = PreconditionedSgld::diagonal(vec![7.0]);
    close(alpha(&mut chain(&data, scaled, batches(10))), 7.0 * exact_alpha(1e-3, 10));
    // With replacement there is no finite-population factor.
    let replaced = MinibatchGradient::new(WithReplacement::new(10));
    close(alpha(&mut chain(&data, Sgld, replaced)), exact_alpha(1e-3, 10) * 49.0 / 40.0);
    // On a normal mean control variates have no noise, and all observations have none.
    let controlled = ControlVariate::new(WithoutReplacement::new(10));
    assert!(alpha(&mut chain(&data, Sgld, controlled)).abs() < 1e-12);
    assert!(alpha(&mut chain(&data, Sgld, batches(50))).abs() < 1e-12);
    // Momentum with little friction amplifies gradient noise far beyond hV/4.
    let amplified =
        alpha(&mut chain(&data, Baoab { alpha: 0.01, ..Baoab::default() }, batches(10))) / exact_alpha(1e-3, 10);
    assert!(amplified > 50.0, "{amplified}");
}
