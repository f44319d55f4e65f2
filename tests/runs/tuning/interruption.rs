//! Runs without settings that are stopped, and repeated.

use sgmcmc::Fit;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::Target;
use sgmcmc::prelude::*;
use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints, StopSignal};
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::tuning::{Auto, Goal};
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::logistic;

use super::{decisions, logistic_start, many};
use crate::checkpoints::stop_past;

const EVERY: CheckpointInterval = CheckpointInterval::Steps(50);

/// Stops `run` past some iterations and repeats it.
fn assert_resumes<T: Target>(run: impl Fn() -> Auto<T>, start: &T::Params, at: &[u64]) {
    let whole = run().sample(start).unwrap();
    assert!(whole.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete));
    for &iteration in at {
        let store = InMemoryCheckpoints::default();
        let (signal, progress) = stop_past(iteration);
        let stopped = run().checkpoint(store.clone(), EVERY).stop_on(&signal).progress(progress);
        let stopped = stopped.sample(start).unwrap();
        assert_stopped(&stopped, &whole, iteration);
        let resumed = run().checkpoint(store.clone(), EVERY).sample(start).unwrap();
        assert_same(&resumed, &whole, iteration);
        // A run that is complete is repeated from its last checkpoint.
        assert_same(&run().checkpoint(store, EVERY).sample(start).unwrap(), &whole, iteration);
    }
}

/// The draws of a stopped run are the first ones of the whole run, and the check says that the run was stopped. The draws
/// may reach the goal all the same, because chains are compared at the end of a round only: then it is no problem.
fn assert_stopped(stopped: &Fit, whole: &Fit, iteration: u64) {
    assert_eq!(
        stopped.outcomes()[0],
        ChainOutcome::Stopped,
        "stopped past iteration {iteration}\n{}",
        decisions(stopped)
    );
    assert!(stopped.chains()[0].len() < whole.chains()[0].len(), "stopped past iteration {iteration}");
    for (part, whole) in stopped.chains().iter().zip(whole.chains()) {
        assert!(part.rows().zip(whole.rows()).all(|(a, b)| a == b), "stopped past iteration {iteration}");
    }
    let check = stopped.check();
    let message = if check.passed() { "was stopped after" } else { "was stopped before its goal" };
    assert!(check.to_string().contains(message), "{check}");
}

fn assert_same(resumed: &Fit, whole: &Fit, iteration: u64) {
    assert_eq!(decisions(resumed), decisions(whole), "stopped past iteration {iteration}");
    assert!(resumed.chains() == whole.chains(), "other draws, stopped past iteration {iteration}");
    assert!(resumed.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete));
    assert_eq!(resumed.info().iterations, whole.info().iterations, "stopped past iteration {iteration}");
}

#[test]
fn stochastic_gradients_go_on_where_they_were_stopped() {
    let (model, data) = (logistic::model(), many());
    assert_resumes(|| auto(&model, &data).seed(3), &logistic_start(), &[100]);
}

#[test]
fn hamiltonian_monte_carlo_goes_on_where_it_was_stopped() {
    let target = || Auto::new(Gaussian::simulate(100, 3, 4).target()).seed(3);
    // In the adaptation and in the first round.
    assert_resumes(target, &zeros([3]), &[100, 400]);
}

/// The goal takes several rounds. The first round of the repeated run is shorter than what has been drawn.
#[test]
fn a_run_that_was_stopped_in_a_later_round_goes_on() {
    let goal = Goal { r_hat: 1.0008, ..Goal::default() };
    let target = || Auto::new(Gaussian::simulate(100, 3, 4).target()).seed(5).goal(goal);
    let whole = target().sample(&zeros([3])).unwrap();
    let (last, draws) = (whole.info().iterations[0], whole.chains()[0].len());
    assert!(draws > 500, "one round was enough: {draws} draws\n{}", decisions(&whole));
    assert_resumes(target, &zeros([3]), &[last - 20]);
}

#[test]
fn checkpoints_in_files_do_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let run = || Auto::new(Gaussian::simulate(100, 3, 4).target()).seed(3);
    let store = || FileCheckpoints::new(directory.path().join("checkpoints")).unwrap();
    let whole = run().sample(&zeros([3])).unwrap();
    let (signal, progress) = stop_past(400);
    let stopped = run().checkpoint(store(), EVERY).stop_on(&signal).progress(progress).sample(&zeros([3])).unwrap();
    assert_stopped(&stopped, &whole, 400);
    let resumed = run().checkpoint(store(), EVERY).sample(&zeros([3])).unwrap();
    assert_same(&resumed, &whole, 400);
}

#[test]
fn a_signal_that_is_set_before_the_run_ends_it_at_once() {
    let signal = StopSignal::new();
    signal.stop();
    let fit = Auto::new(Gaussian::simulate(100, 3, 4).target()).stop_on(&signal).sample(&zeros([3])).unwrap();
    assert!(fit.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Stopped));
    assert!(!fit.check().passed());
    let (model, data) = (logistic::model(), many());
    let fit = auto(&model, &data).stop_on(&signal).sample(&logistic_start()).unwrap();
    assert!(fit.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Stopped), "{}", decisions(&fit));
    assert!(!fit.check().passed());
}
