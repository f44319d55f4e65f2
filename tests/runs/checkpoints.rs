//! Runs that are stopped and go on give the draws of runs that never were.

use std::collections::HashMap;
use std::fmt::Debug;
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sgmcmc::Fit;
use sgmcmc::algorithms::{DualAveraging, Hamcmc, HmcBfgs};
use sgmcmc::algorithms::{Dynamics, Sghmc};
use sgmcmc::fit::{ChainDraws, ChainOutcome};
use sgmcmc::gradient::Error;
use sgmcmc::gradient::{FullGradient, GradientEstimator, Svrg};
use sgmcmc::minibatch::{Epochs, WithoutReplacement};
use sgmcmc::mode::ModeSearch;
use sgmcmc::prelude::*;
use sgmcmc::presets::{sgld, sgldcv};
use sgmcmc::run::{ChainStage, CheckpointInterval, CheckpointStore, Progress, ProgressOption, StopSignal};
use sgmcmc::sink::{Memory, Moments, SecondMoments};
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::{self, Logistic};

/// Checkpoints in memory: the state and the journal of every chain.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<HashMap<usize, Kept>>>);

/// The checkpoint of one chain.
#[derive(Default)]
struct Kept {
    state: Vec<u8>,
    journal: Vec<u8>,
}

impl CheckpointStore for Shelf {
    fn save(&self, chain: usize, state: &[u8]) -> Result<(), Error> {
        self.0.lock().unwrap().entry(chain).or_default().state = state.to_vec();
        Ok(())
    }

    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.0.lock().unwrap().get(&chain).map(|kept| kept.state.clone()).filter(|state| !state.is_empty()))
    }

    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<(), Error> {
        let mut shelf = self.0.lock().unwrap();
        let journal = &mut shelf.entry(chain).or_default().journal;
        journal.truncate(at as usize);
        assert_eq!(journal.len() as u64, at);
        journal.extend_from_slice(bytes);
        Ok(())
    }

    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>, Error> {
        let journal = self.0.lock().unwrap()[&chain].journal.clone();
        Ok(Box::new(Cursor::new(journal).take(length)))
    }
}

fn data(n: usize) -> Dataset<logistic::Observations> {
    Logistic::simulate(n, 1).posterior.data().clone()
}

fn start() -> logistic::Weights {
    Logistic::simulate(2, 1).start
}

/// Returns a signal, and the progress reports that set it once chain 0 has made `iteration` iterations.
pub(crate) fn stop_past(iteration: u64) -> (StopSignal, ProgressOption) {
    let signal = StopSignal::new();
    let held = signal.clone();
    let report = move |progress: &Progress| {
        if progress.chain == 0 && progress.iteration >= iteration {
            held.stop();
        }
    };
    (signal, ProgressOption::By(Arc::new(report), Duration::ZERO))
}

#[test]
fn a_stopped_run_goes_on_bit_for_bit() {
    let (model, data) = (logistic::model(), data(100));
    let run = || {
        let short = ModeSearch::as_in_r(1e-3, 20);
        let run = sgldcv(&model, &data, 1e-3).find_mode(short).dynamics(Sghmc::default()).minibatch(Epochs::new(7));
        run.seed(3).chains(2).burn_in(5).thin(2)
    };
    let whole: Fit = run().sample(&start(), 40).unwrap();
    for iteration in [1, 6, 23, 77] {
        let shelf = Shelf::default();
        let (signal, watch) = stop_past(iteration);
        let stopped = run().checkpoint(shelf.clone(), CheckpointInterval::Steps(1000)).stop_on(&signal).progress(watch);
        let stopped = stopped.sample(&start(), 40).unwrap();
        assert_eq!(stopped.outcomes()[0], ChainOutcome::Stopped);
        assert!(stopped.chains()[0].len() < 40);
        // Nothing drawn is lost.
        assert!(stopped.chains()[0].rows().zip(whole.chains()[0].rows()).all(|(a, b)| a == b));
        let resumed = run().checkpoint(shelf, CheckpointInterval::Steps(1000)).sample(&start(), 40).unwrap();
        assert_eq!(resumed.chains(), whole.chains(), "stopped past iteration {iteration}");
        assert_eq!(resumed.outcomes(), [ChainOutcome::Complete, ChainOutcome::Complete]);
    }
}

/// The chains of a run that interleaves them are stopped at any place of a round, and go on.
#[test]
fn interleaved_chains_go_on_bit_for_bit() {
    fn check<D, G>(dynamics: D, gradient: G, draws: usize)
    where
        D: Dynamics<G> + Debug + Clone + 'static,
        G: GradientEstimator + Debug + Clone + 'static,
    {
        let posterior = Logistic::simulate(60, 1).by_hand;
        let run = || {
            let run = Builder::new(posterior.clone(), dynamics.clone(), gradient.clone(), 1e-3);
            run.seed(3).chains(2).burn_in(5).thin(2)
        };
        let whole = run().sample(&start(), draws).unwrap();
        let sink = |_| (Memory::default(), Moments::new(SecondMoments::Covariance));
        let moments = run().sample_into(&start(), draws, sink).unwrap();
        for iteration in [1, 9, 20, 21, 22, 23, 47] {
            let shelf = Shelf::default();
            let (signal, watch) = stop_past(iteration);
            let stopped =
                run().checkpoint(shelf.clone(), CheckpointInterval::Steps(1000)).stop_on(&signal).progress(watch);
            let stopped = stopped.sample(&start(), draws).unwrap();
            assert_eq!(stopped.outcomes()[0], ChainOutcome::Stopped);
            assert_eq!(stopped.outcomes().len(), whole.chains().len());
            for (part, whole) in stopped.chains().iter().zip(whole.chains()) {
                assert!(part.rows().zip(whole.rows()).all(|(a, b)| a == b));
            }
            let resumed = run().checkpoint(shelf, CheckpointInterval::Steps(1000)).sample(&start(), draws).unwrap();
            assert_eq!(resumed.chains(), whole.chains(), "stopped past iteration {iteration}");
            assert!(resumed.outcomes().iter().all(|ending| *ending == ChainOutcome::Complete));

            let shelf = Shelf::default();
            let (signal, watch) = stop_past(iteration);
            let stopped =
                run().checkpoint(shelf.clone(), CheckpointInterval::Steps(4)).stop_on(&signal).progress(watch);
            stopped.sample_into(&start(), draws, sink).unwrap();
            let resumed =
                run().checkpoint(shelf, CheckpointInterval::Steps(4)).sample_into(&start(), draws, sink).unwrap();
            for (((memory, found), _), ((_, expected), _)) in resumed.iter().zip(&moments) {
                assert_eq!(memory.len(), whole.chains()[0].len());
                assert_eq!(found.mean(), expected.mean(), "stopped past iteration {iteration}");
                assert_eq!(found.covariance(), expected.covariance(), "stopped past iteration {iteration}");
            }
        }
    }
    check(Hamcmc::default(), Svrg::new(WithoutReplacement::new(7), 4), 40);
    // The search for the step size ends in the middle of a round.
    let adapt = Some(DualAveraging { iterations: 12, acceptance: 0.8 });
    check(HmcBfgs { steps: 2, adapt, ..HmcBfgs::default() }, FullGradient, 40);
}

/// More chains than threads take turns: their draws are those of chains with a thread each, also after a stop.
#[test]
fn chains_that_take_turns_make_the_same_draws() {
    let (model, data) = (logistic::model(), data(100));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let run = || sgld(&model, &data, 1e-3).minibatch(10).seed(3).chains(3).burn_in(7);
    let whole = run().sample(&start(), 4000).unwrap();
    let alone = pool.install(|| run().sample(&start(), 4000)).unwrap();
    assert_eq!(alone.chains(), whole.chains());
    let shelf = Shelf::default();
    let signal = StopSignal::new();
    let (held, steps) = (signal.clone(), Arc::new(Mutex::new([0_u64; 3])));
    let seen = steps.clone();
    let report = move |progress: &Progress| {
        let mut seen = seen.lock().unwrap();
        seen[progress.chain] = progress.iteration;
        // Every chain has had a turn.
        if seen.iter().all(|iteration| *iteration > 0) {
            held.stop();
        }
    };
    let option = ProgressOption::By(Arc::new(report), Duration::from_millis(20));
    let store = |run: Builder<_, _, _, _>| run.checkpoint(shelf.clone(), CheckpointInterval::Steps(1_000_000));
    let stopped = store(run()).stop_on(&signal).progress(option);
    let stopped = pool.install(|| stopped.sample(&start(), 40_000)).unwrap();
    assert!(stopped.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Stopped));
    assert!(stopped.chains().iter().all(|chain| chain.len() > 10), "{:?}", steps.lock().unwrap());
    let most = stopped.chains().iter().map(ChainDraws::len).max().unwrap();
    let resumed = pool.install(|| store(run()).sample(&start(), most + 100)).unwrap();
    assert_eq!(resumed.chains(), run().sample(&start(), most + 100).unwrap().chains());
}

/// Progress names the iteration from which a chain continues, and the quality of the draws.
#[test]
fn progress_shows_the_quality_and_the_resumption() {
    let (model, data) = (logistic::model(), data(100));
    let shelf = Shelf::default();
    let run = || sgld(&model, &data, 1e-3).minibatch(10).seed(3).chains(2);
    let stored = || run().checkpoint(shelf.clone(), CheckpointInterval::Steps(1000));
    stored().sample(&start(), 20).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let held = seen.clone();
    let report = move |progress: &Progress| held.lock().unwrap().push(*progress);
    stored().progress(ProgressOption::By(Arc::new(report), Duration::ZERO)).sample(&start(), 500).unwrap();
    let seen = seen.lock().unwrap();
    let ended: Vec<_> = seen.iter().filter(|progress| progress.stage == ChainStage::Complete).collect();
    assert!(ended.iter().all(|progress| progress.resumed_from == 20), "{ended:?}");
    let quality = ended.last().unwrap().quality.unwrap();
    assert!(quality.r_hat.is_finite() && (1.0..=960.0).contains(&quality.effective_draws), "{quality:?}");
}

#[test]
fn a_finished_run_can_be_made_longer() {
    let (model, data) = (logistic::model(), data(100));
    let run = || sgld(&model, &data, 1e-3).minibatch(10).seed(3);
    let shelf = Shelf::default();
    run().checkpoint(shelf.clone(), CheckpointInterval::Steps(7)).sample(&start(), 20).unwrap();
    let longer = run().checkpoint(shelf, CheckpointInterval::Steps(7)).sample(&start(), 50).unwrap();
    assert_eq!(longer.chains(), run().sample(&start(), 50).unwrap().chains());
}

#[test]
fn sinks_go_on_too() {
    let (model, data) = (logistic::model(), data(100));
    let run = || sgld(&model, &data, 1e-3).minibatch(10).seed(3);
    let sink = |_| (Memory::default(), Moments::new(SecondMoments::Covariance));
    let whole = run().sample_into(&start(), 60, sink).unwrap();
    let shelf = Shelf::default();
    let (signal, watch) = stop_past(31);
    let stopped = run().checkpoint(shelf.clone(), CheckpointInterval::Steps(5)).stop_on(&signal).progress(watch);
    stopped.sample_into(&start(), 60, sink).unwrap();
    let resumed = run().checkpoint(shelf, CheckpointInterval::Steps(5)).sample_into(&start(), 60, sink).unwrap();
    assert_eq!(resumed[0].0.0, whole[0].0.0);
    assert_eq!(resumed[0].0.1.covariance(), whole[0].0.1.covariance());
    assert_eq!(resumed[0].0.1.count(), 60);
}

#[test]
fn a_checkpoint_of_another_run_is_refused_with_the_difference() {
    let (model, data) = (logistic::model(), data(100));
    let shelf = Shelf::default();
    let run =
        || sgld(&model, &data, 1e-3).minibatch(10).seed(3).checkpoint(shelf.clone(), CheckpointInterval::Steps(5));
    run().sample(&start(), 10).unwrap();
    let refused = |error: Error, part: &str| {
        let message = error.to_string();
        assert!(message.contains("the checkpoint cannot be used") && message.contains(part), "{message}");
    };
    refused(run().seed(4).sample(&start(), 10).unwrap_err(), "its seed is 3, but that of this run is 4");
    refused(run().thin(2).sample(&start(), 10).unwrap_err(), "thinning");
    refused(run().minibatch(11).sample(&start(), 10).unwrap_err(), "gradient estimator");
    refused(run().dynamics(Sghmc::default()).sample(&start(), 10).unwrap_err(), "algorithm");
    let other = self::data(101);
    let larger =
        sgld(&model, &other, 1e-3).minibatch(10).seed(3).checkpoint(shelf.clone(), CheckpointInterval::Steps(5));
    refused(larger.sample(&start(), 10).unwrap_err(), "number of observations is 100");
    let changed = Logistic::simulate(100, 2).posterior.data().clone();
    let changed =
        sgld(&model, &changed, 1e-3).minibatch(10).seed(3).checkpoint(shelf.clone(), CheckpointInterval::Steps(5));
    refused(changed.sample(&start(), 10).unwrap_err(), "fingerprint of the data");
    let smaller =
        sgld(&model, &data, 1e-4).minibatch(10).seed(3).checkpoint(shelf.clone(), CheckpointInterval::Steps(5));
    refused(smaller.sample(&start(), 10).unwrap_err(), "step size");
    shelf.save(0, b"nonsense").unwrap();
    refused(run().sample(&start(), 10).unwrap_err(), "");
}

#[test]
fn progress_is_data() {
    let (model, data) = (logistic::model(), data(100));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let held = seen.clone();
    let report = move |progress: &Progress| held.lock().unwrap().push(*progress);
    let run = sgld(&model, &data, 1e-3)
        .minibatch(10)
        .burn_in(5)
        .thin(2)
        .progress(ProgressOption::By(Arc::new(report), Duration::ZERO));
    run.sample(&start(), 10).unwrap();
    let seen = seen.lock().unwrap();
    let (first, seen) = seen.split_first().unwrap();
    assert_eq!((first.stage, first.iteration, first.total), (ChainStage::Waiting, 0, 25));
    let last = seen.last().unwrap();
    assert!(last.stage.has_ended() && last.iteration == 25 && last.total == 25, "{last:?}");
    assert!(seen.iter().all(|progress| progress.log_posterior.is_finite() && progress.rate > 0.0));
    assert!(seen.windows(2).all(|pair| pair[0].iteration <= pair[1].iteration));
}
