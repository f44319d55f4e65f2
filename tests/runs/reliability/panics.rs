//! A panic in any closure of a run becomes an ending, and the draws made before are kept.

use sgmcmc::algorithms::Values;
use sgmcmc::gradient::{Analytic, AnalyticModel, FullGradient};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sgmcmc::Starts;
use sgmcmc::algorithms::Sgld;
use sgmcmc::fit::{Bias, ChainOutcome};
use sgmcmc::gradient::Error;
use sgmcmc::rng::StreamRng;
use sgmcmc::run::{Progress, ProgressOption};
use sgmcmc::sink::{Draw, Memory, Schema, Sink, TestFunction};
use sgmcmc::{Builder, Fit, StepSize};
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::{Logistic, Weights};

type Run = Builder<sgmcmc::AnalyticTree<Weights>, Sgld, FullGradient>;

fn run(step_size: impl Into<StepSize>) -> (Run, Weights) {
    let simulated = Logistic::simulate(30, 1);
    (Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, step_size).seed(2).chains(2), simulated.start)
}

/// All chains ended by the panic "boom" of `what`, after `draws` draws.
fn check(fit: &Fit, what: &str, draws: usize) {
    for (chain, ending) in fit.chains().iter().zip(fit.outcomes()) {
        let ChainOutcome::Failed(error @ Error::Panicked { .. }) = ending else { panic!("{ending:?}") };
        let message = error.to_string();
        assert!(message.contains(what) && message.ends_with("panicked: boom"), "{message}");
        assert_eq!(chain.len(), draws);
    }
    assert!(!fit.check().passed());
}

#[test]
fn a_schedule_that_panics_ends_its_chain() {
    let (run, start) = run(|t: u64| if t == 17 { panic!("boom") } else { 1e-3 });
    check(&run.sample(&start, 40).unwrap(), "a schedule", 17);
}

#[test]
fn a_gibbs_update_that_panics_ends_its_chain() {
    let (run, start) = run(1e-3);
    let update = |_: usize| {
        let mut calls = 0;
        move |_: &mut Values<'_>, _: &mut StreamRng| {
            calls += 1;
            if calls == 10 { panic!("boom") } else { Ok(()) }
        }
    };
    check(&run.gibbs(update).sample(&start, 40).unwrap(), "an update", 9);
}

#[test]
fn a_reporter_that_panics_ends_its_chain() {
    let (run, start) = run(1e-3);
    let report = |progress: &Progress| {
        if progress.iteration == 12 {
            panic!("boom")
        }
    };
    let fit = run.progress(ProgressOption::By(Arc::new(report), Duration::ZERO)).sample(&start, 40).unwrap();
    check(&fit, "the progress reporter", 12);
    let (run, start) = self::run(1e-3);
    let report = |progress: &Progress| {
        if progress.stage.has_ended() {
            panic!("boom")
        }
    };
    let fit = run.progress(ProgressOption::By(Arc::new(report), Duration::ZERO)).sample(&start, 40).unwrap();
    check(&fit, "the progress reporter", 40);
}

#[test]
fn a_test_function_that_panics_ends_its_chain() {
    let (run, start) = run(1e-3);
    let sink = |_| {
        let mut calls = 0;
        let function = TestFunction::new(move |_: &[f64]| {
            calls += 1;
            if calls == 8 { panic!("boom") } else { Ok(1.0) }
        });
        (Memory::default(), function)
    };
    for ((draws, trace), ending) in run.sample_into(&start, 40, sink).unwrap() {
        assert!(
            matches!(&ending, ChainOutcome::Failed(error) if error.to_string().contains("a sink that took a draw")),
            "{ending:?}"
        );
        assert_eq!((draws.len(), trace.values.len()), (8, 7));
    }
}

/// A sink of the user's that panics when it is saved or finished.
struct Bomb(&'static str);

impl Sink for Bomb {
    type Output = ();

    fn begin(&mut self, _schema: &Schema) -> Result<(), Error> {
        if self.0 == "begin" { panic!("boom") } else { Ok(()) }
    }

    fn record(&mut self, _draw: &Draw<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.0 == "flush" { panic!("boom") } else { Ok(()) }
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }

    fn restore(&mut self, _saved: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn finish(self) {
        if self.0 == "finish" {
            panic!("boom")
        }
    }
}

#[test]
fn a_sink_that_panics_at_its_begin_or_end_is_an_error_or_an_ending() {
    let sample = |when: &'static str| {
        let (run, start) = run(1e-3);
        run.sample_into(&start, 20, move |chain| (Memory::default(), Bomb(if chain == 1 { when } else { "" })))
    };
    for when in ["begin", "flush"] {
        let outcome = sample(when).unwrap();
        assert_eq!(outcome[0].1, ChainOutcome::Complete);
        assert!(matches!(&outcome[1].1, ChainOutcome::Failed(Error::Panicked { .. })), "{:?}", outcome[1].1);
        assert_eq!(outcome[1].0.0.len(), if when == "flush" { 20 } else { 0 });
    }
    // No output is left of a sink that cannot end.
    assert!(matches!(sample("finish").unwrap_err(), Error::Panicked { .. }));
}

#[test]
fn starts_and_sinks_that_cannot_be_made_are_errors() {
    let (run, start) = run(1e-3);
    let error = run.sample(Starts::drawn(|_| panic!("boom")), 10).unwrap_err().to_string();
    assert!(error.contains("draws starts") && error.ends_with("panicked: boom"), "{error}");
    let error = run.sample_into(&start, 10, |_| -> Memory { panic!("boom") }).unwrap_err().to_string();
    assert!(error.contains("makes sinks") && error.ends_with("panicked: boom"), "{error}");
}

/// A chain that cannot start does not cost the draws of the others.
#[test]
fn a_chain_that_cannot_start_ends_alone() {
    let (run, start) = run(1e-3);
    let make = |chain: usize| {
        assert!(chain == 0, "boom");
        |_: &mut Values<'_>, _: &mut StreamRng| Ok(())
    };
    let fit = run.gibbs(make).sample(&start, 10).unwrap();
    assert_eq!(fit.outcomes()[0], ChainOutcome::Complete);
    assert_eq!(fit.chains().iter().map(|chain| chain.len()).collect::<Vec<_>>(), [10, 0]);
    let ChainOutcome::Failed(error) = &fit.outcomes()[1] else { panic!("{:?}", fit.outcomes()) };
    assert!(error.to_string().contains("a closure of the first step"), "{error}");
}

/// N(0, 1), which panics once it is armed.
#[derive(Debug)]
struct Armed(Arc<AtomicBool>);

impl AnalyticModel for Armed {
    fn observations(&self) -> usize {
        10
    }

    fn dim(&self) -> usize {
        1
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        assert!(!self.0.load(Ordering::Relaxed), "boom");
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad[0] -= theta[0];
        -0.5 * theta[0] * theta[0]
    }
}

/// The bias is predicted after the last report of a chain.
#[test]
fn a_model_that_panics_in_the_prediction_of_the_bias_costs_no_draw() {
    let armed = Arc::new(AtomicBool::new(false));
    let target = Analytic::new(Armed(Arc::clone(&armed)));
    let report = move |progress: &Progress| armed.store(progress.stage.has_ended(), Ordering::Relaxed);
    let run = Builder::new(target, Sgld, FullGradient, 1e-3).chains(1);
    let run = run.progress(ProgressOption::By(Arc::new(report), Duration::MAX));
    let fit = run.sample(&vec![0.0], 500).unwrap();
    assert_eq!((fit.chains()[0].len(), &fit.outcomes()[0]), (500, &ChainOutcome::Complete));
    let Bias::NotExamined(reason) = &fit.info().bias else { panic!("{:?}", fit.info().bias) };
    assert!(reason.contains("the prediction of the bias panicked: boom"), "{reason}");
}
