//! The same seed gives the same draws and decisions on every number of threads.

use sgmcmc::Fit;
use sgmcmc::prelude::*;
use sgmcmc::tuning::{Auto, Goal};
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::logistic;

use super::{logistic_start, many};

fn assert_repeatable(sample: impl Fn() -> Fit + Sync) {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&sample);
    let one = on(1);
    let tuning = one.info().tuning.clone().unwrap();
    assert!(!tuning.decisions.is_empty());
    for threads in [2, 4] {
        let other = on(threads);
        let other_tuning = other.info().tuning.clone().unwrap();
        assert_eq!(other_tuning.decisions, tuning.decisions, "{threads} threads");
        assert_eq!(other_tuning.findings, tuning.findings, "{threads} threads");
        assert_eq!(other_tuning.gradients, tuning.gradients, "{threads} threads");
        assert!(other.chains() == one.chains(), "other draws on {threads} threads");
        assert_eq!(other.info().iterations, one.info().iterations, "{threads} threads");
    }
}

#[test]
fn stochastic_gradients_do_not_depend_on_threads() {
    let (model, data) = (logistic::model(), many());
    let run = auto(&model, &data).seed(7);
    assert!(run.tune(&logistic_start()).unwrap().choice().is_some());
    assert_repeatable(|| run.sample(&logistic_start()).unwrap());
}

#[test]
fn hamiltonian_monte_carlo_does_not_depend_on_threads() {
    let run = Auto::new(Gaussian::simulate(100, 3, 4).target()).seed(7).goal(Goal { r_hat: 1.004, ..Goal::default() });
    assert!(run.tune(&zeros([3])).unwrap().choice().is_none());
    assert_repeatable(|| run.sample(&zeros([3])).unwrap());
}

#[test]
fn another_seed_gives_other_draws() {
    let target = || Auto::new(Gaussian::simulate(100, 3, 4).target());
    let fit = |seed| target().seed(seed).sample(&zeros([3])).unwrap();
    assert!(fit(1).chains() != fit(2).chains());
}
