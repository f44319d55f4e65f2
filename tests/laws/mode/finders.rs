//! Runs take any search, and the automatic one takes the cheaper.

use sgmcmc::TreeLayout;
use sgmcmc::algorithms::Sgld;
use sgmcmc::default_device;
use sgmcmc::gradient::ControlVariate;
use sgmcmc::gradient::Target;
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::mode::AutoSearch;
use sgmcmc::mode::{LbfgsSearch, ModeSearch};
use sgmcmc::mode::{ModeFinder, NEGLIGIBLE_GAIN, SearchOutcome, StopRule};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::NormalMean;

use super::mistaken;

/// Control variates are centered where the search ended, and the chain starts there.
#[test]
fn runs_take_any_search() {
    let simulated = Logistic::simulate(500, 3);
    let (model, data, start) = (logistic::model(), simulated.posterior.data().clone(), &simulated.start);
    let mut evaluator = simulated.posterior.evaluator(start).unwrap();
    let exact = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0; 6]).unwrap();
    assert_eq!(exact.ending, SearchOutcome::Converged);

    let run = sgldcv(&model, &data, 1e-3).find_mode(LbfgsSearch::default()).minibatch(50).seed(4);
    let fit = run.sample(start, 20).unwrap();
    assert_eq!(fit.mode(), Some(&exact));
    let centered = ControlVariate::new(WithoutReplacement::new(50)).with_center(exact.theta.clone());
    let at_mode = evaluator.layout().unflatten(start, &exact.theta, &default_device()).unwrap();
    let by_hand = Builder::new(simulated.posterior.clone(), Sgld, centered, 1e-3).seed(4).sample(&at_mode, 20).unwrap();
    assert_eq!(fit.chains()[0].values(), by_hand.chains()[0].values());

    // The presets find the mode in the same way by default.
    let preset = sgldcv(&model, &data, 1e-3).minibatch(50).start(start).unwrap();
    assert_eq!(preset.mode(), Some(&exact));
    let full = ula(&model, &data, 1e-4).find_mode(LbfgsSearch::default()).start(start).unwrap();
    assert_eq!(full.mode(), Some(&exact));
}

#[test]
fn lbfgs_is_chosen_where_it_reads_fewer_observations() {
    let auto = AutoSearch::default();
    // Small data sets, and the default minibatches of 1 %, whatever the size.
    assert!(auto.uses_lbfgs(20_000, 1, 1000));
    assert!(auto.uses_lbfgs(100_000_000, 1_000_000, 100));
    // 60 passes more than Adam's looks, against 30 000 minibatches: N = 500 n with five parameters.
    assert!(auto.uses_lbfgs(500_000, 1000, 5) && !auto.uses_lbfgs(500_001, 1000, 5));
    // 250 passes, the verification among them, with a hundred parameters or more.
    assert!(auto.uses_lbfgs(120_000, 1000, 100) && !auto.uses_lbfgs(120_001, 1000, 5000));
    let short = AutoSearch { minibatch: ModeSearch { max_iterations: 100, ..ModeSearch::default() }, ..auto };
    assert!(!short.uses_lbfgs(500_000, 1000, 5));
}

#[test]
fn the_search_that_is_chosen_is_the_one_that_runs() {
    let scheme = || Some(WithoutReplacement::new(10));
    let minibatch = ModeSearch { max_iterations: 300, ..ModeSearch::default() };
    let auto = AutoSearch { minibatch, ..AutoSearch::default() };
    for (n, few) in [(1000, true), (30_000, false)] {
        let simulated = NormalMean::simulate(n, 3);
        let evaluator = || simulated.by_hand.evaluator(&simulated.start).unwrap();
        let chosen = auto.find(evaluator(), scheme(), &[0.5]).unwrap();
        let lbfgs = LbfgsSearch::default().find(evaluator(), scheme(), &[0.5]).unwrap();
        let adam = minibatch.find(evaluator(), scheme(), &[0.5]).unwrap();
        assert_ne!(lbfgs, adam);
        assert_eq!(chosen, if few { lbfgs } else { adam }, "{n} observations");
    }
}

/// A search by L-BFGS that does not arrive is continued on minibatches, and its point is verified.
#[test]
fn a_search_that_does_not_arrive_is_continued() {
    let simulated = Logistic::simulate(500, 3);
    let evaluator = || simulated.by_hand.evaluator(&simulated.start).unwrap();
    let exact = LbfgsSearch::default().run(evaluator().as_mut(), &[0.0; 6]).unwrap();
    let full = LbfgsSearch { max_iterations: 1, ..LbfgsSearch::default() };
    let first = full.run(evaluator().as_mut(), &[0.0; 6]).unwrap();
    assert_eq!(first.ending, SearchOutcome::IterationLimit);
    let find = |minibatch| {
        AutoSearch { full, minibatch }.find(evaluator(), Some(WithoutReplacement::new(50)), &[0.0; 6]).unwrap()
    };
    let mode = find(ModeSearch::default());
    assert_eq!(mode.outcome, SearchOutcome::Converged);
    let short = exact.log_posterior - mode.log_posterior;
    assert!(short < NEGLIGIBLE_GAIN && mode.predicted_gain.unwrap() < NEGLIGIBLE_GAIN, "{mode}: {short}");
    assert!(mode.iterations > 1000 && mode.full_passes > first.full_passes + 12, "{mode}");
    assert!((mode.start_log_posterior - exact.start_log_posterior).abs() < 1e-12);

    // A second search that is content with anything has not converged.
    let content = StopRule::Plateau { every: 3, tolerance: 1e9, patience: 1 };
    let mode = find(ModeSearch { stop: content, ..ModeSearch::default() });
    assert!(mode.log_posterior > first.log_posterior, "{mode}");
    assert_eq!(mode.outcome, SearchOutcome::Stalled);
    assert!(mode.predicted_gain.unwrap() > NEGLIGIBLE_GAIN && !mode.is_close(), "{mode}");
    let cut_short = find(ModeSearch { max_iterations: 3, ..ModeSearch::default() });
    assert_eq!(cut_short.ending, SearchOutcome::IterationLimit);
}

/// The better of the two points is kept.
#[test]
fn the_point_of_the_first_search_is_kept_if_it_is_better() {
    let start = zeros([2]);
    let first = LbfgsSearch::default().run(mistaken().evaluator(&start).unwrap().as_mut(), &[0.0; 2]).unwrap();
    let minibatch = ModeSearch { max_iterations: 400, ..ModeSearch::default() };
    let auto = AutoSearch { minibatch, ..AutoSearch::default() };
    let mode = auto.find(mistaken().evaluator(&start).unwrap(), None::<WithoutReplacement>, &[0.0; 2]).unwrap();
    assert_eq!((&mode.theta, mode.outcome), (&first.theta, SearchOutcome::Stalled));
    assert_eq!(mode.iterations, first.iterations + 400);
}
