//! Progress reports and stop signals.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sgmcmc_gradient::{Error, Result};

/// The progress of a chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::run::Progress;
/// use std::time::Duration;
///
/// let (elapsed, rate) = (Duration::from_secs(10), 250.0);
/// let progress = Progress { chain: 0, iteration: 2500, total: 5000, elapsed, rate, log_posterior: -12.3, ended: false };
/// assert_eq!(progress.remaining(), Duration::from_secs(10));
/// assert_eq!(progress.to_string(), "250/s, 10 s left, log posterior -12.3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The index of the chain, as counted by [`Builder::chains`](crate::Builder::chains): interleaved chains are
    /// reported together.
    pub chain: usize,
    /// The number of iterations done, burn-in included.
    pub iteration: u64,
    /// The total number of iterations.
    pub total: u64,
    /// The time since the chain was started or resumed.
    pub elapsed: Duration,
    /// The number of iterations per second in this time.
    pub rate: f64,
    /// The last estimate of the log density: see [`StepInfo`](crate::chain::StepInfo::log_posterior).
    pub log_posterior: f64,
    /// True if the chain has ended, with or without an error.
    pub ended: bool,
}

impl Progress {
    /// Returns the remaining time at the current rate.
    pub fn remaining(&self) -> Duration {
        let left = self.total.saturating_sub(self.iteration) as f64 / self.rate;
        Duration::try_from_secs_f64(left).unwrap_or(Duration::ZERO)
    }
}

/// Shows the rate, the remaining time (the elapsed time if the chain has ended) and the log posterior:
/// "1802/s, 1 min 12 s left, log posterior -29671.4".
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

/// Formats a duration in the two largest units.
fn in_words(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

/// Receives progress reports. The threads of the chains call it a few times a second, and when a chain ends.
///
/// Closures `Fn(&Progress)` implement it.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::{Progress, ProgressOption};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// static DONE: AtomicU64 = AtomicU64::new(0);
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let option = ProgressOption::by(|progress: &Progress| DONE.store(progress.iteration, Ordering::Relaxed));
/// ula(&model, &Dataset::none(), 0.1).progress(option).sample(&zeros([1]), 100)?;
/// assert_eq!(DONE.load(Ordering::Relaxed), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Reporter: Send + Sync {
    /// Reports the progress of chain `progress.chain`.
    fn report(&self, progress: &Progress);
}

impl<F: Fn(&Progress) + Send + Sync> Reporter for F {
    fn report(&self, progress: &Progress) {
        self(progress);
    }
}

/// A reporter that writes lines to standard error.
///
/// # Examples
///
/// ```
/// use sgmcmc::run::{ProgressLines, ProgressOption};
///
/// let option = ProgressOption::by(ProgressLines);
/// assert!(matches!(option, ProgressOption::By(..)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressLines;

impl Reporter for ProgressLines {
    fn report(&self, progress: &Progress) {
        let Progress { chain, iteration, total, .. } = progress;
        // A closed standard error is no reason to stop sampling.
        let _ = writeln!(std::io::stderr().lock(), "chain {chain}: {iteration}/{total}, {progress}");
    }
}

/// The progress option of a run.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::ProgressOption;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let run = ula(&model, &Dataset::none(), 0.1).progress(ProgressOption::lines());
/// assert_eq!(run.sample(&zeros([1]), 100)?.chains()[0].len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Default)]
pub enum ProgressOption {
    /// No reports.
    #[default]
    Off,
    /// Reports to this reporter, at this interval.
    By(Arc<dyn Reporter>, Duration),
}

impl fmt::Debug for ProgressOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("Off"),
            Self::By(_, interval) => write!(f, "By(…, {interval:?})"),
        }
    }
}

impl ProgressOption {
    /// Creates an option that writes [`ProgressLines`] every two seconds to a terminal, every ten seconds otherwise.
    pub fn lines() -> Self {
        let seconds = if std::io::stderr().is_terminal() { 2 } else { 10 };
        Self::By(Arc::new(ProgressLines), Duration::from_secs(seconds))
    }

    /// Creates an option that calls `reporter` five times a second.
    pub fn by(reporter: impl Reporter + 'static) -> Self {
        Self::By(Arc::new(reporter), Duration::from_millis(200))
    }
}

/// A signal that stops chains after their current step. Clones share the signal.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::ChainOutcome;
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::StopSignal;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let signal = StopSignal::new();
/// signal.stop();
/// let fit = ula(&model, &Dataset::none(), 0.1).stop_on(&signal).sample(&zeros([1]), 100)?;
/// assert!(matches!(fit.outcomes()[0], ChainOutcome::Stopped));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Creates a signal that has not been triggered.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a signal that Ctrl-C triggers. A program can have one such signal.
    ///
    /// # Errors
    ///
    /// Returns an error if the program already has a handler of Ctrl-C.
    pub fn on_ctrl_c() -> Result<Self> {
        let signal = Self::new();
        let triggered = signal.clone();
        // `try_set_handler` would fail in a background program, where Ctrl-C is ignored: it treats that as a handler.
        ctrlc::set_handler(move || triggered.stop()).map_err(|error| Error::Setting {
            name: "the handler of Ctrl-C",
            value: error.to_string(),
            expected: "a program has one; share that signal",
        })?;
        Ok(signal)
    }

    /// Triggers the signal.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the signal has been triggered.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reports the progress of one chain at intervals. Reads the clock only in some iterations, since that is slow relative
/// to fast steps.
#[derive(Debug)]
pub(super) struct ProgressClock {
    option: ProgressOption,
    chain: usize,
    total: u64,
    start: Instant,
    first: u64,
    last: Instant,
    /// The number of iterations between two readings of the clock.
    stride: u64,
}

impl ProgressClock {
    pub(super) fn new(option: ProgressOption, chain: usize, first: u64, total: u64) -> Self {
        let now = Instant::now();
        Self { option, chain, total, start: now, first, last: now, stride: 1 }
    }

    /// Reports the progress if the interval has passed.
    pub(super) fn report_if_due(&mut self, iteration: u64, log_posterior: f64) {
        let ProgressOption::By(reporter, interval) = &self.option else { return };
        if !iteration.is_multiple_of(self.stride) {
            return;
        }
        if self.last.elapsed() >= *interval {
            reporter.report(&self.progress(iteration, log_posterior, false));
            self.last = Instant::now();
        } else {
            let per_second = (iteration - self.first) as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
            // About a hundred readings a second.
            self.stride = ((per_second / 100.0) as u64).max(1);
        }
    }

    /// Reports the end of the chain.
    pub(super) fn end(&self, iteration: u64, log_posterior: f64) {
        if let ProgressOption::By(reporter, _) = &self.option {
            reporter.report(&self.progress(iteration, log_posterior, true));
        }
    }

    fn progress(&self, iteration: u64, log_posterior: f64, ended: bool) -> Progress {
        let elapsed = self.start.elapsed();
        let rate = (iteration - self.first) as f64 / elapsed.as_secs_f64().max(1e-9);
        Progress { chain: self.chain, iteration, total: self.total, elapsed, rate, log_posterior, ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_described_in_words() {
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
