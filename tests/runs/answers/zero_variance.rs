//! Better means from the gradients at the draws. The table of all this is `examples/10_zero_variance.rs`.

use sgmcmc::algorithms::Sgld;
use sgmcmc::diagnostics::control::Polynomial;
use sgmcmc::gradient::{ControlVariate, FullGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::NormalMean;
use sgmcmc_testkit::models::{Case, normals};

use super::{fit_of, layout};

/// For a normal posterior and exact gradients nothing is left to chance, however rough the draws are.
#[test]
fn the_mean_of_a_normal_posterior_is_found_exactly() {
    let n = 50;
    let simulated = NormalMean::simulate(n, 1);
    let exact = normals(n, 1).iter().sum::<f64>() / (n as f64 + 0.01);
    let rows = normals(20, 2).iter().map(|z| vec![0.3 + z]).collect::<Vec<_>>();
    let fit = fit_of(layout(&[("theta", &[1])]), &[rows[..10].to_vec(), rows[10..].to_vec()]);
    let scores = fit.scores(&simulated.posterior, &simulated.start, &FullGradient, 0).unwrap();
    let corrected = fit.zero_variance(&scores, Polynomial::Linear).unwrap();
    let mean = &corrected.means[0];
    assert!((mean.plain - exact).abs() > 0.1 && (mean.mean - exact).abs() < 1e-12, "{corrected}");
    // And the mean square by a quadratic polynomial: variance plus squared mean.
    let square = fit.zero_variance_of(&scores, Polynomial::Quadratic, |x| x[0] * x[0]).unwrap();
    let expected = exact * exact + 1.0 / (n as f64 + 0.01);
    assert!((square.estimate - expected).abs() < 1e-10, "{} against {expected}", square.estimate);
}

/// Logistic regression by SGLD with control variates, gradients from minibatches: over repeated runs the variance of every posterior mean
/// falls at least tenfold.
#[test]
fn means_of_a_logistic_regression_vary_ten_times_less() {
    let simulated = Logistic::simulate(1000, 1);
    let (target, start) = (&simulated.posterior, &simulated.start);
    let mode =
        sgldcv(&logistic::model(), target.data(), 1e-3).minibatch(100).start(start).unwrap().mode().unwrap().clone();
    let controlled = ControlVariate::new(WithoutReplacement::new(100)).with_center(mode.theta.clone());
    let run = Builder::new(target.clone(), Sgld, controlled.clone(), 1e-3).burn_in(50).thin(2);
    let at_mode = logistic::Weights {
        bias: array(mode.theta[..1].to_vec(), [1]).unwrap(),
        beta: array(mode.theta[1..].to_vec(), [5]).unwrap(),
    };
    let means = |seed: u64| {
        let fit = run.clone().seed(seed).sample(&at_mode, 300).unwrap();
        let scores = fit.scores(target, start, &controlled, seed).unwrap();
        fit.zero_variance(&scores, Polynomial::Linear).unwrap().means
    };
    let replicates: Vec<_> = (0..16).map(means).collect();
    let variance = |of: &dyn Fn(usize) -> f64| {
        let mean = (0..16).map(of).sum::<f64>() / 16.0;
        (0..16).map(|k| (of(k) - mean).powi(2)).sum::<f64>() / 15.0
    };
    let check = |value: usize| {
        let of = |k: usize| &replicates[k][value];
        let (plain, corrected) = (variance(&|k| of(k).plain), variance(&|k| of(k).mean));
        // Of the squared errors that runs give, not of their ratios, which a few lucky runs dominate.
        let squares = |error: &dyn Fn(usize) -> f64| (0..16).map(|k| error(k).powi(2)).sum::<f64>();
        let reported = squares(&|k| of(k).plain_mcse) / squares(&|k| of(k).mcse);
        assert!(plain > 10.0 * corrected, "value {value}: {plain} against {corrected}");
        // The variance reductions that runs report. Short chains overstate them.
        assert!(reported > 10.0, "value {value}: {reported} against {plain} / {corrected}");
    };
    (0..6).for_each(check);
}
