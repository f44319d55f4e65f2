//! Tests of starts with zero gradients, and of chains that end early.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::run::{ChainStage, Progress};
use sgmcmc_gradient::{Analytic, AnalyticModel, Layout};

/// The density −x²/2 − `slope` y²/2, which does not depend on y if `slope` is zero.
#[derive(Debug)]
struct Stationary {
    slope: f64,
}

impl AnalyticModel for Stationary {
    fn observations(&self) -> usize {
        0
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad[0] -= theta[0];
        grad[1] -= self.slope * theta[1];
        -0.5 * (theta[0].powi(2) + self.slope * theta[1].powi(2))
    }
}

fn sample(slope: f64) -> Result<Fit> {
    let layout = Layout::new([("x".into(), vec![1], None), ("y".into(), vec![1], None)])?;
    let target = Analytic::with_layout(Stationary { slope }, layout)?;
    Nuts { chains: 1, warm_up: 200, ..Nuts::default() }.sample(&target, &vec![0.0; 2], 500)
}

#[test]
fn the_start_leaves_stationary_coordinates() {
    let fit = sample(4.0).unwrap();
    let sd = |k: usize| {
        let draws = fit.chains()[0].element(k);
        (draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64).sqrt()
    };
    assert!((0.8..1.2).contains(&sd(0)) && (0.4..0.6).contains(&sd(1)), "{} {}", sd(0), sd(1));
}

#[test]
fn a_parameter_without_effect_is_named() {
    let message = sample(0.0).unwrap_err().to_string();
    assert!(message.contains("0 for y"), "{message}");
}

/// N(0, 1), whose evaluation number `last` of all chains is the last one: later ones panic.
#[derive(Debug)]
struct Fails {
    evaluations: AtomicU64,
    last: u64,
}

impl AnalyticModel for Fails {
    fn observations(&self) -> usize {
        0
    }

    fn dim(&self) -> usize {
        1
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        assert!(self.evaluations.fetch_add(1, Ordering::Relaxed) < self.last, "boom");
        grad[0] -= theta[0];
        -0.5 * theta[0] * theta[0]
    }
}

fn fails(last: u64) -> Analytic {
    Analytic::new(Fails { evaluations: AtomicU64::new(0), last })
}

const SHORT: Nuts = Nuts { warm_up: 50, max_depth: 10, chains: 2, seed: 1 };

#[test]
fn a_model_that_panics_costs_no_draw() {
    let whole = SHORT.sample(&fails(u64::MAX), &vec![0.5], 300).unwrap();
    assert_eq!(whole.outcomes(), [ChainOutcome::Complete, ChainOutcome::Complete]);
    let gradients: u64 = whole.info().gradients.iter().sum();
    let fit = SHORT.sample(&fails(gradients * 3 / 4), &vec![0.5], 300).unwrap();
    let mut failed = 0;
    for ((chain, outcome), whole) in fit.chains().iter().zip(fit.outcomes()).zip(whole.chains()) {
        assert!(chain.rows().zip(whole.rows()).all(|(a, b)| a == b));
        if let ChainOutcome::Failed(error) = outcome {
            failed += 1;
            let message = error.to_string();
            assert!(message.contains("NUTS, chain ") && message.ends_with("panicked: boom"), "{message}");
            assert!(chain.len() < 300);
        }
    }
    assert!(failed > 0 && fit.chains().iter().any(|chain| !chain.is_empty()), "{:?}", fit.outcomes());
    assert!(!fit.check().passed());
}

#[test]
fn a_model_that_panics_at_once_is_an_error() {
    let error = SHORT.sample(&fails(0), &vec![0.5], 300).unwrap_err().to_string();
    assert!(error.contains("(after iteration 0)") && error.ends_with("panicked: boom"), "{error}");
}

#[test]
fn progress_is_reported_and_a_signal_stops_chains() {
    let (signal, stages) = (StopSignal::new(), Arc::new(Mutex::new(Vec::new())));
    let (stop, seen) = (signal.clone(), Arc::clone(&stages));
    let report = move |progress: &Progress| {
        seen.lock().unwrap().push(progress.stage);
        if progress.iteration == 80 {
            stop.stop();
        }
    };
    let progress = ProgressOption::By(Arc::new(report), Duration::ZERO);
    let one = Nuts { chains: 1, ..SHORT };
    let fit = one.sample_watched(&fails(u64::MAX), &vec![0.5], 300, progress, &signal).unwrap();
    assert_eq!((fit.chains()[0].len(), fit.outcomes()), (30, &[ChainOutcome::Stopped][..]));
    assert_eq!(fit.info().iterations, [80]);
    let stages = stages.lock().unwrap();
    for stage in [ChainStage::Adaptation, ChainStage::Sampling, ChainStage::Stopped] {
        assert!(stages.contains(&stage), "{stages:?}");
    }
}
