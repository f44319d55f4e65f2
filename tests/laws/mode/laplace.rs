//! The Laplace approximation, and the preconditioner made of it, check that they are at the mode.

use sgmcmc::algorithms::LaplaceApproximation;
use sgmcmc::algorithms::PreconditionedSgld;
use sgmcmc::mode::{LbfgsSearch, Mode};
use sgmcmc::mode::{NEGLIGIBLE_GAIN, SearchOutcome};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;

use super::earnings::{earnings, start};
use super::mistaken;

/// Means were up to six standard deviations off.
#[test]
fn of_an_unscaled_regression() {
    for seed in 0..3 {
        let (target, exact) = earnings(1192, seed);
        let fit = LaplaceApproximation { seed, ..Default::default() }.fit(&target, &start(), 2000).unwrap();
        assert_eq!(fit.mode().unwrap().outcome, SearchOutcome::Converged);
        assert!(fit.summary().warnings().is_empty());
        let summary = fit.summary();
        for ((name, row), exact) in summary.names().iter().zip(summary.rows()).zip(exact) {
            let exact = if name.starts_with("sigma") { exact.exp() } else { exact };
            assert!((row.mean - exact).abs() < 0.15 * row.sd, "{name}: {} for {exact}", row.mean);
        }
    }
}

/// A search that was cut short is continued with Newton steps.
#[test]
fn newton_steps_repair_a_search_that_was_cut_short() {
    let simulated = Logistic::simulate(500, 3);
    let search = LbfgsSearch { max_iterations: 2, ..LbfgsSearch::default() };
    let mut evaluator = simulated.posterior.evaluator(&simulated.start).unwrap();
    let exact = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0; 6]).unwrap();
    let short = search.run(evaluator.as_mut(), &[0.0; 6]).unwrap();
    assert!(exact.log_posterior - short.log_posterior > 0.1, "{short}");
    let fit = LaplaceApproximation { search, seed: 0 }.fit(&simulated.posterior, &simulated.start, 10).unwrap();
    let mode = fit.mode().unwrap();
    assert!(mode.is_close() && exact.log_posterior - mode.log_posterior < NEGLIGIBLE_GAIN, "{mode}");
    assert!(mode.iterations > 2 && mode.full_passes > short.full_passes + 24, "{mode}");
    assert_eq!(fit.info().gradients, [mode.full_passes]);
}

#[test]
fn a_point_that_is_not_the_mode_is_refused() {
    let error = LaplaceApproximation::default().fit(&mistaken(), &zeros([2]), 10).unwrap_err().to_string();
    assert!(error.contains("gain in log posterior of a Newton step") && error.contains("1.250e1"), "{error}");
    assert!(error.contains("more iterations") && error.contains("standardize"), "{error}");

    let simulated = Logistic::simulate(500, 3);
    let mut evaluator = simulated.posterior.evaluator(&simulated.start).unwrap();
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0; 6]).unwrap();
    assert!(PreconditionedSgld::laplace(evaluator.as_mut(), &mode.theta).is_ok());
    let off: Vec<f64> = mode.theta.iter().map(|theta| theta + 0.3).collect();
    let error = PreconditionedSgld::laplace(evaluator.as_mut(), &off).unwrap_err().to_string();
    assert!(error.contains("of a Newton step from `mode` is") && error.contains("LbfgsSearch"), "{error}");
}

/// A stall far from the mode is reported with remedies; one that is close is not.
#[test]
fn stalled_searches_are_reported_unless_they_are_close() {
    let simulated = Logistic::simulate(200, 3);
    let fit = LaplaceApproximation::default().fit(&simulated.posterior, &simulated.start, 200).unwrap();
    let mode = fit.mode().unwrap().clone();
    let with = |outcome, predicted_gain| fit.clone().with_mode(Some(Mode { outcome, predicted_gain, ..mode.clone() }));
    for (outcome, gain, reported) in [
        (SearchOutcome::Converged, None, false),
        (SearchOutcome::Stalled, Some(0.004), false),
        (SearchOutcome::Stalled, Some(0.3), true),
        (SearchOutcome::Stalled, None, true),
        (SearchOutcome::IterationLimit, None, true),
        (SearchOutcome::IterationLimit, Some(1e-4), false),
    ] {
        let fit = with(outcome, gain);
        let warned = fit.summary().warnings().iter().any(|warning| warning.contains("the mode search"));
        assert_eq!(warned, reported, "{outcome:?} {gain:?}");
        let check = fit.check();
        let finding = check.findings().iter().find(|finding| finding.what.contains("the mode search"));
        assert_eq!(finding.is_some(), reported, "{outcome:?} {gain:?}");
        if let Some(finding) = finding {
            let remedy = if outcome == SearchOutcome::Stalled { "standardize the data" } else { "more iterations" };
            assert!(finding.remedy.contains(remedy), "{}", finding.remedy);
        }
    }
}
