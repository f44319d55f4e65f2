//! Receivers of progress reports: see [`Reporter`] and [`ProgressOption`].

use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{ChainStage, PreparationStage, Progress};

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
    /// Reports the progress of chain `progress.chain`. Every chain is reported once as
    /// [waiting](ChainStage::Waiting) before the first of them starts.
    fn report(&self, progress: &Progress);

    /// Reports the begin or the end of a stage before the chains. The default implementation does nothing.
    fn prepare(&self, stage: &PreparationStage) {
        let _ = stage;
    }
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
        let Progress { chain, iteration, total, stage, quality, .. } = progress;
        if *stage == ChainStage::Waiting {
            return;
        }
        let since = match progress.resumed_from {
            0 => String::new(),
            from => format!(" since iteration {from}"),
        };
        let quality = quality.map_or_else(String::new, |quality| format!("; all chains: {quality}{since}"));
        // A closed standard error is no reason to stop sampling.
        let _ = writeln!(std::io::stderr().lock(), "chain {chain}: {iteration}/{total}, {progress}{quality}");
    }

    fn prepare(&self, stage: &PreparationStage) {
        let _ = writeln!(std::io::stderr().lock(), "{stage}");
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

    /// Calls `call` and reports it as the stage `name`.
    pub(crate) fn preparing<T>(&self, name: &'static str, call: impl FnOnce() -> T) -> T {
        let Self::By(reporter, _) = self else { return call() };
        let start = Instant::now();
        reporter.prepare(&PreparationStage { name, ended_after: None });
        let result = call();
        reporter.prepare(&PreparationStage { name, ended_after: Some(start.elapsed()) });
        result
    }

    /// Creates an option that calls `reporter` five times a second.
    pub fn by(reporter: impl Reporter + 'static) -> Self {
        Self::By(Arc::new(reporter), Duration::from_millis(200))
    }
}
