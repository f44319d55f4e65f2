//! Budgets, and settings out of range.

use std::time::Duration;

use sgmcmc::Fit;
use sgmcmc::fit::{Finding, Severity};
use sgmcmc::prelude::*;
use sgmcmc::tuning::{Auto, Goal};
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::logistic;

use super::{decisions, logistic_start, many};

/// Returns the finding about a goal that was not reached.
fn missing(fit: &Fit) -> Finding {
    let check = fit.check();
    assert!(!check.passed(), "{check}");
    let about = |finding: &&Finding| finding.what.contains("before its goal");
    check.findings().iter().find(about).unwrap_or_else(|| panic!("no finding about the goal\n{check}")).clone()
}

#[test]
fn a_budget_of_gradients_ends_the_run() {
    let (model, data) = (logistic::model(), many());
    let run = |goal| auto(&model, &data).seed(1).goal(goal);
    let free = run(Goal::default()).sample(&logistic_start()).unwrap();
    let tuned = run(Goal::default()).tune(&logistic_start()).unwrap();
    let (tuning, minibatch) = (tuned.record().gradients, tuned.choice().unwrap().minibatch as u64);
    // Nothing is left for sampling, and a part of what the goal needs.
    for budget in [1, tuning + tuning / 4] {
        let goal = Goal { gradients: Some(budget), effective_draws: 10_000.0, ..Goal::default() };
        let fit = run(goal).sample(&logistic_start()).unwrap();
        // A control variate evaluates every observation of a minibatch twice.
        let chains = 2 * minibatch * fit.info().gradients.iter().sum::<u64>();
        let used = chains + fit.info().tuning.as_ref().unwrap().gradients;
        assert!(budget == 1 || used < budget + budget / 10, "{used} gradients of a budget of {budget}");
        let finding = missing(&fit);
        assert_eq!(finding.severity, Severity::Problem);
        assert!(finding.what.contains("budget") && finding.what.contains("of 10000 effective draws"), "{finding:?}");
        assert!(finding.remedy.contains("more gradients"), "{finding:?}");
        assert!(fit.chains().iter().all(|chain| !chain.is_empty()), "{}", decisions(&fit));
        assert!(fit.chains()[0].len() < free.chains()[0].len(), "{budget}");
    }
}

/// The iterations that adapt the step size count, too.
#[test]
fn a_budget_of_gradients_ends_a_run_with_the_full_gradient() {
    let run = |budget| {
        let goal = Goal { gradients: Some(budget), effective_draws: 1e6, ..Goal::default() };
        let run = Auto::new(Gaussian::simulate(100, 3, 4).target()).seed(1).goal(goal);
        assert!(run.tune(&zeros([3])).unwrap().choice().is_none());
        run.sample(&zeros([3])).unwrap()
    };
    let fit = run(1);
    assert!(missing(&fit).what.contains("of 1000000 effective draws"));
    assert!(fit.chains().iter().all(|chain| !chain.is_empty()));
    let budget = 2_000_000;
    let fit = run(budget);
    assert!(missing(&fit).what.contains("of 1000000 effective draws"));
    let used = 100 * fit.info().gradients.iter().sum::<u64>() + fit.info().tuning.as_ref().unwrap().gradients;
    let share = used as f64 / budget as f64;
    assert!((0.5..1.05).contains(&share), "{used} gradients of a budget of {budget}\n{}", decisions(&fit));
}

#[test]
fn a_budget_of_time_ends_the_run() {
    let run = Auto::new(Gaussian::simulate(100, 3, 4).target());
    let goal = Goal { time: Some(Duration::from_nanos(1)), effective_draws: 1e6, ..Goal::default() };
    let fit = run.seed(1).goal(goal).sample(&zeros([3])).unwrap();
    assert!(missing(&fit).remedy.contains("time"));
}

#[test]
fn settings_out_of_range_are_named() {
    let run = |goal: Goal| {
        let run = Auto::new(Gaussian::simulate(100, 2, 4).target()).goal(goal);
        let (tuned, sampled) = (run.tune(&zeros([2])).unwrap_err(), run.sample(&zeros([2])).unwrap_err());
        assert_eq!(tuned.to_string(), sampled.to_string());
        tuned.to_string()
    };
    let goal = Goal::default();
    for (goal, named) in [
        (Goal { bias: 0.0, ..goal }, "accepted bias is 0"),
        (Goal { bias: 1.0, ..goal }, "accepted bias is 1"),
        (Goal { bias: f64::NAN, ..goal }, "accepted bias is NaN"),
        (Goal { effective_draws: 0.0, ..goal }, "number of effective draws is 0"),
        (Goal { effective_draws: f64::NAN, ..goal }, "number of effective draws is NaN"),
        (Goal { effective_draws: f64::INFINITY, ..goal }, "number of effective draws is inf"),
        (Goal { r_hat: 1.0, ..goal }, "R-hat is 1"),
        (Goal { gradients: Some(0), ..goal }, "budget of gradients is 0"),
        (Goal { time: Some(Duration::ZERO), ..goal }, "time"),
    ] {
        let message = run(goal);
        assert!(message.contains(named), "{named}: {message}");
    }
    let none = Auto::new(Gaussian::simulate(100, 2, 4).target()).chains(0);
    let message = none.sample(&zeros([2])).unwrap_err().to_string();
    assert!(message.contains("number of chains is 0"), "{message}");
}

#[test]
fn one_chain_is_enough_to_run() {
    let fit = Auto::new(Gaussian::simulate(100, 2, 4).target()).chains(1).seed(1).sample(&zeros([2])).unwrap();
    assert_eq!(fit.chains().len(), 1);
    assert!(fit.summary().rows().iter().all(|row| row.ess_bulk >= 400.0));
}

#[test]
fn an_error_of_the_model_at_the_start_is_returned() {
    let model = Model::density(|x: Tensor<1>| x.log().sum());
    let error = auto(&model, &Dataset::none()).sample(&full([1], -1.0)).unwrap_err().to_string();
    assert!(error.contains("NaN") || error.contains("finite"), "{error}");
}
