//! Watching and stopping a run: progress is data first, drawing second.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sgmcmc_core::{Error, Result};

/// Where a chain is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of the chain, as counted by [`Builder::chains`](crate::Builder::chains): interleaved chains are reported
    /// together.
    pub chain: usize,
    /// Iterations done, burn-in included.
    pub iteration: u64,
    /// Iterations in all.
    pub total: u64,
    /// Since the chain began (or was resumed).
    pub elapsed: Duration,
    /// Iterations per second since then.
    pub rate: f64,
    /// The last estimate of the log density: see [`StepInfo`](crate::StepInfo::log_posterior).
    pub log_posterior: f64,
    /// Whether the chain has ended, one way or another.
    pub ended: bool,
}

impl Progress {
    /// The time left at this rate.
    pub fn remaining(&self) -> Duration {
        let left = self.total.saturating_sub(self.iteration) as f64 / self.rate;
        Duration::try_from_secs_f64(left).unwrap_or(Duration::ZERO)
    }
}

/// Speed, time left (or taken, once the chain has ended) and log posterior: "1802/s, 1 min 12 s left, log posterior -29671.4".
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.rate < 10.0 { 2 } else { 0 };
        write!(f, "{:.digits$}/s, ", self.rate)?;
        if self.ended {
            write!(f, "ended after {}", in_words(self.elapsed))?;
        } else {
            write!(f, "{} left", in_words(self.remaining()))?;
        }
        write!(f, ", log posterior {:.1}", self.log_posterior)
    }
}

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

/// Told where chains are, from their threads, a few times a second and when each ends.
pub trait Reporter: Send + Sync {
    /// Chain `progress.chain` is here.
    fn report(&self, progress: &Progress);
}

impl<F: Fn(&Progress) + Send + Sync> Reporter for F {
    fn report(&self, progress: &Progress) {
        self(progress);
    }
}

/// One line per report to standard error, at most one every few seconds and chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines;

impl Reporter for Lines {
    fn report(&self, progress: &Progress) {
        let Progress { chain, iteration, total, .. } = progress;
        // Nothing to be done if standard error is closed, and no reason to stop sampling.
        let _ = writeln!(std::io::stderr().lock(), "chain {chain}: {iteration}/{total}, {progress}");
    }
}

/// How a run is watched.
#[derive(Clone, Default)]
pub enum Watch {
    /// Not at all.
    #[default]
    Off,
    /// By a reporter, told this often.
    By(Arc<dyn Reporter>, Duration),
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("Off"),
            Self::By(_, interval) => write!(f, "By(…, {interval:?})"),
        }
    }
}

impl Watch {
    /// Lines on standard error: every two seconds on a terminal, every ten elsewhere.
    pub fn lines() -> Self {
        let seconds = if std::io::stderr().is_terminal() { 2 } else { 10 };
        Self::By(Arc::new(Lines), Duration::from_secs(seconds))
    }

    /// Any reporter, told five times a second.
    pub fn by(reporter: impl Reporter + 'static) -> Self {
        Self::By(Arc::new(reporter), Duration::from_millis(200))
    }
}

/// Asks chains to stop after their current step. Cloning gives another handle to the same request.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// A signal nobody has given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal that Ctrl-C gives. One per program: the second is refused.
    ///
    /// # Errors
    ///
    /// If the program already does something else on Ctrl-C.
    pub fn on_ctrl_c() -> Result<Self> {
        let signal = Self::new();
        let given = signal.clone();
        // Not `try_set_handler`, which takes the ignored Ctrl-C of a program in the background for a handler.
        ctrlc::set_handler(move || given.stop()).map_err(|error| Error::Setting {
            name: "the handler of Ctrl-C",
            value: error.to_string(),
            expected: "a program has one; share that signal",
        })?;
        Ok(signal)
    }

    /// Asks chains to stop.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether chains were asked to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The watch over one chain. Looks at the clock only now and then, so that fast chains do not pay for it.
#[derive(Debug)]
pub(super) struct Clock {
    watch: Watch,
    chain: usize,
    total: u64,
    began: Instant,
    first: u64,
    last: Instant,
    /// Look at the clock every so many iterations.
    stride: u64,
}

impl Clock {
    pub(super) fn new(watch: Watch, chain: usize, first: u64, total: u64) -> Self {
        let now = Instant::now();
        Self { watch, chain, total, began: now, first, last: now, stride: 1 }
    }

    /// Reports if it is time to.
    pub(super) fn tick(&mut self, iteration: u64, log_posterior: f64) {
        let Watch::By(reporter, interval) = &self.watch else { return };
        if !iteration.is_multiple_of(self.stride) {
            return;
        }
        if self.last.elapsed() >= *interval {
            reporter.report(&self.progress(iteration, log_posterior, false));
            self.last = Instant::now();
        } else {
            let per_second = (iteration - self.first) as f64 / self.began.elapsed().as_secs_f64().max(1e-9);
            // About a hundred looks a second.
            self.stride = ((per_second / 100.0) as u64).max(1);
        }
    }

    pub(super) fn end(&self, iteration: u64, log_posterior: f64) {
        if let Watch::By(reporter, _) = &self.watch {
            reporter.report(&self.progress(iteration, log_posterior, true));
        }
    }

    fn progress(&self, iteration: u64, log_posterior: f64, ended: bool) -> Progress {
        let elapsed = self.began.elapsed();
        let rate = (iteration - self.first) as f64 / elapsed.as_secs_f64().max(1e-9);
        Progress { chain: self.chain, iteration, total: self.total, elapsed, rate, log_posterior, ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_words() {
        let at = |iteration, rate, ended| {
            let elapsed = Duration::from_secs(3725);
            Progress { chain: 1, iteration, total: 10_000, elapsed, rate, log_posterior: -12.34, ended }.to_string()
        };
        assert_eq!(at(9000, 250.0, false), "250/s, 4 s left, log posterior -12.3");
        assert_eq!(at(2500, 100.0, false), "100/s, 1 min 15 s left, log posterior -12.3");
        assert_eq!(at(1000, 1.25, false), "1.25/s, 2 h 0 min left, log posterior -12.3");
        assert_eq!(at(10_000, 2.5, true), "2.50/s, ended after 1 h 2 min, log posterior -12.3");
    }
}
