//! One chain of [`Nuts`].

use std::time::Instant;

use nuts_rs::{Chain, CpuMath, DiagNutsSettings, Settings, Storable, Value};
use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ChainRng, Error, Evaluator, Layout, Result};

use super::{Density, Nuts};
use crate::run::{ChainStage, ChainStart, ProgressClock, Reading, StopSignal, guard};
use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, ChainOutcome};

/// The names of the statistics in ArviZ and in `nuts-rs`.
const STATS: [(&str, &str); 6] = [
    ("acceptance_rate", "mean_tree_accept"),
    ("diverging", "diverging"),
    ("energy", "energy"),
    ("n_steps", "n_steps"),
    ("tree_depth", "depth"),
    ("step_size", "step_size"),
];

/// A chain that has ended.
pub(super) struct Sampled {
    pub(super) draws: ChainDraws,
    pub(super) outcome: ChainOutcome,
    /// True if the chain made an iteration or was stopped before its first one.
    pub(super) started: bool,
    pub(super) iterations: u64,
    pub(super) gradients: u64,
    pub(super) seconds: f64,
}

/// A chain with its draws so far.
pub(super) struct ChainOfNuts {
    nuts: Nuts,
    index: usize,
    draws: ChainDraws,
    values: Vec<f64>,
    iterations: u64,
    gradients: u64,
    log_posterior: f64,
    divergences: u64,
    clock: ProgressClock,
}

impl ChainOfNuts {
    /// Creates chain number `index`, without draws.
    pub(super) fn new(nuts: Nuts, index: usize, layout: &Layout, clock: ProgressClock) -> Self {
        let draws = ChainDraws::new(layout.value_count(), STATS.map(|(name, _)| name.to_owned()).to_vec());
        let values = vec![0.0; layout.value_count()];
        let log_posterior = f64::NAN;
        Self { nuts, index, draws, values, iterations: 0, gradients: 0, log_posterior, divergences: 0, clock }
    }

    /// Makes iterations until there are `total`, `stop` is triggered, or the chain fails. A panic of the model, of
    /// `nuts-rs` or of the reporter is a failure.
    pub(super) fn run(mut self, start: ChainStart, total: u64, stop: &StopSignal) -> Sampled {
        let began = Instant::now();
        let advanced = guard(String::new, || self.advance(start, total, stop));
        let outcome = advanced.unwrap_or_else(|error| ChainOutcome::Failed(self.in_context(error)));
        let stage = match &outcome {
            ChainOutcome::Complete => ChainStage::Complete,
            ChainOutcome::Stopped => ChainStage::Stopped,
            ChainOutcome::Failed(_) => ChainStage::Failed,
        };
        let reported = guard(String::new, || {
            self.report(stage);
            Ok(())
        });
        let outcome = match (outcome, reported) {
            (ChainOutcome::Complete | ChainOutcome::Stopped, Err(error)) => {
                ChainOutcome::Failed(self.in_context(error))
            }
            (outcome, _) => outcome,
        };
        let Self { draws, iterations, gradients, .. } = self;
        let started = iterations > 0 || !matches!(outcome, ChainOutcome::Failed(_));
        Sampled { draws, outcome, started, iterations, gradients, seconds: began.elapsed().as_secs_f64() }
    }

    /// Returns `error` with the iteration if it is a panic.
    fn in_context(&self, error: Error) -> Error {
        let Self { index, iterations, .. } = self;
        match error {
            Error::Panicked { message, .. } => {
                let what =
                    format!("the model or the progress reporter of NUTS, chain {index} (after iteration {iterations})");
                Error::Panicked { what, message }
            }
            other => other,
        }
    }

    /// Returns the error for `error` of `nuts-rs`.
    fn failed(&self, error: &dyn std::fmt::Display) -> Error {
        // The lines after the first may contain a backtrace.
        let error = error.to_string();
        let line = error.lines().next().unwrap_or_default();
        Error::Recorded { message: format!("NUTS, chain {}: {line}", self.index) }
    }

    /// Makes the iterations.
    fn advance(&mut self, start: ChainStart, total: u64, stop: &StopSignal) -> Result<ChainOutcome> {
        let ChainStart { mut evaluator, mut theta } = start;
        let layout = evaluator.layout().clone();
        let mut settings = DiagNutsSettings::default();
        (settings.num_tune, settings.num_draws) = (self.nuts.warm_up, total - self.nuts.warm_up);
        settings.maxdepth = self.nuts.max_depth;
        let mut rng = ChainRng::new(self.nuts.seed, self.index as u64);
        leave_stationary_coordinates(evaluator.as_mut(), &mut theta, rng.noise())?;
        let math = CpuMath::new(Density(evaluator));
        let mut sampler = settings.new_chain(self.index as u64, math, rng.noise()).map_err(|e| self.failed(&e))?;
        sampler.set_position(&theta).map_err(|e| self.failed(&e))?;
        while self.iterations < total {
            if stop.is_set() {
                return Ok(ChainOutcome::Stopped);
            }
            let (position, _, mut stats, progress) = sampler.expanded_draw().map_err(|e| self.failed(&e))?;
            self.iterations += 1;
            self.gradients += progress.num_gradients;
            let adapts = self.iterations <= self.nuts.warm_up;
            if !adapts {
                let dims = (&*sampler.math()).into();
                let all = stats.get_all(&dims);
                let number = |key: &str| {
                    let value = all.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.as_ref());
                    value.map_or(f64::NAN, as_number)
                };
                let stats = STATS.map(|(_, theirs)| number(theirs));
                self.log_posterior = number("logp");
                self.divergences += u64::from(progress.diverging);
                layout.values_into(&position, &mut self.values)?;
                let (iteration, values, log_posterior) = (self.iterations, &self.values[..], self.log_posterior);
                self.draws.push(&Draw { iteration, values, weight: 1.0, log_posterior, stats: &stats })?;
            }
            if self.clock.read(self.iterations).report_is_due {
                self.report(if adapts { ChainStage::Adaptation } else { ChainStage::Sampling });
            }
        }
        Ok(ChainOutcome::Complete)
    }

    /// Reports the progress of the chain, if there is a reporter.
    fn report(&mut self, stage: ChainStage) {
        let Self { iterations: iteration, log_posterior, divergences, .. } = *self;
        self.clock.report(Reading { iteration, log_posterior, is_estimate: false, stage, divergences, quality: None });
    }
}

/// Moves the coordinates of `theta` with zero gradient by a small random amount.
///
/// `nuts-rs` computes its first mass matrix from the gradient at the start, whose entries must not be zero. They are
/// zero for example for a weight of zero with a normal prior and no data.
///
/// # Errors
///
/// Returns an error if the gradient of a coordinate is zero after the move too.
fn leave_stationary_coordinates(evaluator: &mut dyn Evaluator, theta: &mut [f64], rng: &mut StreamRng) -> Result<()> {
    let mut gradient = vec![0.0; theta.len()];
    let rows = evaluator.all_rows();
    evaluator.posterior(theta, rows, &mut gradient)?;
    if gradient.iter().all(|g| *g != 0.0) {
        return Ok(());
    }
    let still = theta.iter_mut().zip(&gradient).filter(|(_, g)| **g == 0.0);
    still.for_each(|(theta, _)| *theta += NUDGE * rng.sample::<f64, _>(StandardNormal));
    gradient.fill(0.0);
    evaluator.posterior(theta, rows, &mut gradient)?;
    match gradient.iter().position(|g| *g == 0.0) {
        None => Ok(()),
        Some(index) => Err(Error::Setting {
            name: "the gradient at the start",
            value: format!("0 for {}", evaluator.layout().coordinate_name(index)),
            expected: "the posterior must depend on every parameter; start elsewhere, or give it a prior",
        }),
    }
}

/// The standard deviation of the move of a coordinate with zero gradient.
const NUDGE: f64 = 0.1;

/// Converts a scalar statistic to a number.
fn as_number(value: &Value) -> f64 {
    match value {
        Value::ScalarF64(value) => *value,
        Value::ScalarF32(value) => f64::from(*value),
        Value::ScalarU64(value) => *value as f64,
        Value::ScalarI64(value) => *value as f64,
        Value::ScalarBool(value) => f64::from(u8::from(*value)),
        _ => f64::NAN,
    }
}
