//! A mode search never says that it converged where it did not.

use sgmcmc::gradient::Target;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sgmcmc::data::Precision;
use sgmcmc::gradient::Evaluator;
use sgmcmc::mode::{LbfgsSearch, Mode};
use sgmcmc::mode::{NEGLIGIBLE_GAIN, SearchOutcome};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::normals;

use super::earnings::{earnings, start};
use super::{density, mistaken};

/// The condition number of the Hessian is 10¹¹. The L-BFGS matrix promised 10⁻⁹ up to 25 below the mode.
#[test]
fn an_unscaled_regression() {
    for n in [46, 200, 1192] {
        for seed in 0..8 {
            let (target, exact) = earnings(n, seed);
            let mut evaluator = target.evaluator(&start()).unwrap();
            let best = evaluator.log_density(&exact, evaluator.all_rows()).unwrap();
            let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0; 3]).unwrap();
            assert_eq!(mode.outcome, SearchOutcome::Converged, "{mode}");
            let (short, promised) = (best - mode.log_posterior, mode.predicted_gain.unwrap());
            assert!(short < 1e-8 && promised <= 1e-9, "{mode}: {short} below the mode");
            assert!(mode.full_passes < 200, "{mode}");
        }
    }
}

/// In single precision the value is known to 10⁻³ or so. The gradient still finds the mode, and the gain promised is that which is left.
#[test]
fn an_unscaled_regression_in_single_precision() {
    for seed in 0..8 {
        let (target, exact) = earnings(200, seed);
        let mut double = target.evaluator(&start()).unwrap();
        let best = double.log_density(&exact, double.all_rows()).unwrap();
        let single = target.data().clone().with_precision(Precision::Single);
        let mut evaluator = target.model().with(&single).evaluator(&start()).unwrap();
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0; 3]).unwrap();
        let short = best - double.log_density(&mode.theta, double.all_rows()).unwrap();
        assert!(mode.is_close() && short < 1e-3, "{mode}: {short} below the mode");
    }
}

/// The posterior of a normal mean with a Laplace prior has its mode at zero where the data say less than the prior.
#[test]
fn a_kink_at_the_mode() {
    let (n, rate, d) = (100.0, 20.0, 8);
    for seed in 0..4 {
        let means: Vec<f64> = normals(d, seed).iter().map(|z| 0.3 * z).collect();
        let exact: Vec<f64> = means.iter().map(|m| m.signum() * (m.abs() - rate / n).max(0.0)).collect();
        assert!(exact.iter().any(|x| x.abs() < 1e-300), "there is a kink at the mode");
        let mut evaluator = density(d, move |theta, gradient| {
            let terms = theta.iter().zip(&means).zip(gradient).map(|((theta, mean), gradient)| {
                let sign = if theta.abs() > 0.0 { theta.signum() } else { 0.0 };
                *gradient += n * (mean - theta) - rate * sign;
                -0.5 * n * (mean - theta).powi(2) - rate * theta.abs()
            });
            terms.sum()
        });
        let best = evaluator.log_density(&exact, evaluator.all_rows()).unwrap();
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), &vec![0.1; d]).unwrap();
        assert_eq!(mode.outcome, SearchOutcome::Stalled, "{mode}");
        assert!(best - mode.log_posterior < 1e-4 && mode.predicted_gain.unwrap() < NEGLIGIBLE_GAIN, "{mode}");
        assert!(mode.to_string().starts_with("stalled after"), "{mode}");
    }
}

/// A gradient that is not that of the value: no point along it is better, and the predicted gain of a Newton step is 12.5.
#[test]
fn a_line_search_that_finds_nothing_is_no_convergence() {
    let mut evaluator = mistaken().evaluator(&zeros([2])).unwrap();
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0; 2]).unwrap();
    assert_eq!(mode.outcome, SearchOutcome::Stalled);
    assert!((mode.predicted_gain.unwrap() - 12.5).abs() < 1e-6 && !mode.is_close(), "{mode}");
    assert!(mode.to_string().contains("predicted gain of a Newton step 1.2e1"), "{mode}");
}

/// Of two collinear covariates with flat priors only a sum is determined.
#[test]
fn collinear_covariates() {
    let (x, noise) = (normals(50, 1), normals(50, 2));
    let y: Vec<f64> = x.iter().zip(noise).map(|(x, z)| 2.0 * x + z).collect();
    let least_squares = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / x.iter().map(|x| x * x).sum::<f64>();
    let mut evaluator = density(2, move |theta, gradient| {
        let terms = x.iter().zip(&y).map(|(x, y)| {
            let residual = y - x * (theta[0] + 3.0 * theta[1]);
            gradient[0] += residual * x;
            gradient[1] += 3.0 * residual * x;
            -0.5 * residual * residual
        });
        terms.sum()
    });
    for start in [[0.0, 0.0], [10.0, -7.0], [1e6, 0.0]] {
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), &start).unwrap();
        let sum = mode.theta[0] + 3.0 * mode.theta[1];
        assert!(mode.is_close() && (sum - least_squares).abs() < 1e-4, "{mode}: {sum} for {least_squares}");
    }
}

/// The gradient is zero at a saddle, and so is the predicted gain of a Newton step.
#[test]
fn a_saddle_is_no_mode() {
    let mut evaluator = density(2, |theta, gradient| {
        gradient[0] += theta[0] - theta[0].powi(3);
        gradient[1] -= theta[1];
        0.5 * theta[0].powi(2) - 0.25 * theta[0].powi(4) - 0.5 * theta[1].powi(2)
    });
    let at_saddle = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0, 1.0]).unwrap();
    assert_eq!((at_saddle.outcome, at_saddle.predicted_gain), (SearchOutcome::Stalled, None));
    assert!(!at_saddle.is_close());
    let beside = LbfgsSearch::default().run(evaluator.as_mut(), &[0.01, 1.0]).unwrap();
    assert_eq!(beside.outcome, SearchOutcome::Converged);
    assert!((beside.theta[0] - 1.0).abs() < 1e-4, "{beside}");
}

/// Standard deviations from 1 to 0.02, and one of 10^5.5, along directions that are no coordinates.
fn hidden_direction(d: usize, seed: u64) -> Box<dyn Evaluator> {
    let axis = normals(d, seed);
    let squares: f64 = axis.iter().map(|x| x * x).sum();
    let reflect = move |v: &[f64]| -> Vec<f64> {
        let twice = 2.0 * v.iter().zip(&axis).map(|(v, a)| v * a).sum::<f64>() / squares;
        v.iter().zip(&axis).map(|(v, a)| v - twice * a).collect()
    };
    let curvature = move |j: usize| if j == 0 { 1e-11 } else { 10.0_f64.powf(2.75 * j as f64 / d as f64) };
    density(d, move |theta, gradient| {
        let z = reflect(theta);
        let slopes: Vec<f64> = z.iter().enumerate().map(|(j, z)| -curvature(j) * z).collect();
        gradient.iter_mut().zip(reflect(&slopes)).for_each(|(gradient, slope)| *gradient += slope);
        0.5 * z.iter().zip(&slopes).map(|(z, slope)| z * slope).sum::<f64>()
    })
}

/// Beyond 100 parameters the Hessian is not formed, and a direction of little curvature shows only when the equations are solved well.
#[test]
fn many_parameters() {
    for (d, seed) in [(20, 1), (110, 1), (110, 2), (110, 3), (110, 4)] {
        let mut evaluator = hidden_direction(d, seed);
        let start: Vec<f64> = normals(d, seed + 10).iter().map(|z| 3.0 * z).collect();
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), &start).unwrap();
        assert!(mode.outcome != SearchOutcome::Converged || mode.log_posterior > -1e-6, "{mode}");
        assert!(mode.is_close(), "{mode}");
    }
}

/// Scales that differ by 10⁸: L-BFGS alone takes more than 1000 steps.
#[test]
fn newton_steps_come_to_the_aid_of_slow_searches() {
    let d = 50;
    let mut evaluator = density(d, move |theta, gradient| {
        let terms = theta.iter().zip(gradient).enumerate().map(|(j, (theta, gradient))| {
            let curvature = 10.0_f64.powf(8.0 * j as f64 / (d - 1) as f64);
            *gradient += curvature * (1.0 - theta);
            -0.5 * curvature * (1.0 - theta).powi(2)
        });
        terms.sum()
    });
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &vec![0.0; d]).unwrap();
    assert_eq!(mode.outcome, SearchOutcome::Converged, "{mode}");
    assert!(mode.log_posterior > -1e-8 && mode.iterations < 300, "{mode}");
}

#[test]
fn every_full_pass_is_counted() {
    let passes = Arc::new(AtomicU64::new(0));
    let counter = passes.clone();
    let mut evaluator = density(3, move |theta, gradient| {
        counter.fetch_add(1, Ordering::Relaxed);
        gradient.iter_mut().zip(theta).for_each(|(gradient, theta)| *gradient -= theta.powi(3) + theta);
        theta.iter().map(|theta| -0.25 * theta.powi(4) - 0.5 * theta.powi(2)).sum()
    });
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[3.0, -2.0, 1.0]).unwrap();
    assert_eq!(mode.outcome, SearchOutcome::Converged);
    assert_eq!(mode.full_passes, passes.load(Ordering::Relaxed));
    // Two for each column of the Hessian, and for each of two iterations of conjugate gradients.
    assert!(mode.full_passes >= mode.iterations + 11, "{mode}");
}

/// Modes written before the gain was recorded can be read.
#[test]
fn a_mode_without_a_predicted_gain_is_read() {
    let mut evaluator = density(1, |theta, gradient| {
        gradient[0] -= theta[0];
        -0.5 * theta[0].powi(2)
    });
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[1.0]).unwrap();
    let mut written = serde_json::to_value(&mode).unwrap();
    assert_eq!(serde_json::from_value::<Mode>(written.clone()).unwrap(), mode);
    written.as_object_mut().unwrap().remove("predicted_gain").unwrap();
    assert_eq!(serde_json::from_value::<Mode>(written).unwrap(), Mode { predicted_gain: None, ..mode });
}
