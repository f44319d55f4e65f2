//! The clock of a chain: progress reports and the end of its turn.

use std::time::{Duration, Instant};

use super::{ChainStage, Progress, ProgressOption, Quality};

/// The result of a reading of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DueActions {
    /// True if a progress report is due.
    pub(crate) report_is_due: bool,
    /// True if the turn of the chain is over.
    pub(crate) turn_is_over: bool,
}

/// Reports the progress of one chain at intervals and ends its turns. Reads the clock only in some iterations, since
/// that is slow relative to fast steps.
#[derive(Debug)]
pub(crate) struct ProgressClock {
    option: ProgressOption,
    /// The length of a turn. `None` if each chain has a thread of its own.
    turn: Option<Duration>,
    chain: usize,
    total: u64,
    start: Instant,
    first: u64,
    last: Instant,
    turn_start: Instant,
    turn_first: u64,
    /// The number of iterations between two readings of the clock.
    stride: u64,
}

impl ProgressClock {
    pub(crate) fn new(option: ProgressOption, turn: Option<Duration>, chain: usize, first: u64, total: u64) -> Self {
        let now = Instant::now();
        // Without reports and turns the clock is never read.
        let stride = if matches!(option, ProgressOption::Off) && turn.is_none() { u64::MAX } else { 1 };
        Self { option, turn, chain, total, start: now, first, last: now, turn_start: now, turn_first: first, stride }
    }

    /// Begins a turn of the chain.
    pub(crate) fn begin_turn(&mut self, iteration: u64) {
        (self.turn_start, self.turn_first) = (Instant::now(), iteration);
    }

    /// Returns the time since the begin of the turn.
    pub(crate) fn in_turn(&self) -> Duration {
        self.turn_start.elapsed()
    }

    /// Reads the clock, in some iterations.
    pub(crate) fn read(&mut self, iteration: u64) -> DueActions {
        if !iteration.is_multiple_of(self.stride) {
            return DueActions::default();
        }
        let in_turn = self.turn_start.elapsed();
        let due = DueActions {
            report_is_due: match &self.option {
                ProgressOption::By(_, interval) => self.last.elapsed() >= *interval,
                ProgressOption::Off => false,
            },
            turn_is_over: self.turn.is_some_and(|turn| in_turn >= turn),
        };
        if due == DueActions::default() {
            let per_second = (iteration - self.turn_first) as f64 / in_turn.as_secs_f64().max(1e-9);
            // About a hundred readings a second.
            self.stride = ((per_second / 100.0) as u64).max(1);
        }
        due
    }

    /// Reports the progress of the chain, if there is a reporter.
    pub(crate) fn report(&mut self, at: Reading) {
        let Self { chain, total, first, .. } = *self;
        let ProgressOption::By(reporter, _) = &self.option else { return };
        let elapsed = self.start.elapsed();
        let rate = (at.iteration - first) as f64 / elapsed.as_secs_f64().max(1e-9);
        let Reading { iteration, log_posterior, is_estimate, stage, divergences, quality } = at;
        reporter.report(&Progress {
            chain,
            iteration,
            total,
            resumed_from: first,
            elapsed,
            rate,
            log_posterior,
            is_estimate,
            stage,
            divergences,
            quality,
        });
        self.last = Instant::now();
    }
}

/// The part of a report that comes from the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) iteration: u64,
    pub(crate) log_posterior: f64,
    pub(crate) is_estimate: bool,
    pub(crate) stage: ChainStage,
    pub(crate) divergences: u64,
    pub(crate) quality: Option<Quality>,
}
