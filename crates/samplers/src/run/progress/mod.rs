//! Progress of a run: see [`Progress`].

mod clock;
mod preparation;
mod quality;
mod reporter;

use std::fmt;
use std::time::Duration;

pub(crate) use clock::{ProgressClock, Reading};
pub use preparation::PreparationStage;
pub use quality::Quality;
pub(super) use quality::{QualityBoard, Watch};
pub use reporter::{ProgressLines, ProgressOption, Reporter};

/// The stage of a chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::run::ChainStage;
///
/// assert!(!ChainStage::Waiting.has_ended());
/// assert!(ChainStage::Stopped.has_ended());
/// assert_eq!(ChainStage::BurnIn.to_string(), "burn-in");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainStage {
    /// The chain has not made a step yet.
    #[default]
    Waiting,
    /// The chain makes iterations before its first draw.
    BurnIn,
    /// The chain adapts its settings; no draws are kept.
    Adaptation,
    /// The chain makes draws.
    Sampling,
    /// The chain has all its draws.
    Complete,
    /// The chain was stopped by a signal.
    Stopped,
    /// The chain ended with an error.
    Failed,
}

impl ChainStage {
    /// Returns whether the chain has ended.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Complete | Self::Stopped | Self::Failed)
    }
}

/// Shows the stage in words: "waiting", "burn-in", "adaptation", "sampling", "complete", "stopped" or "failed".
impl fmt::Display for ChainStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting",
            Self::BurnIn => "burn-in",
            Self::Adaptation => "adaptation",
            Self::Sampling => "sampling",
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        })
    }
}

/// The progress of a chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::run::{ChainStage, Progress};
/// use std::time::Duration;
///
/// let progress = Progress {
///     iteration: 2500,
///     elapsed: Duration::from_secs(10),
///     rate: 250.0,
///     log_posterior: -12.3,
///     stage: ChainStage::Sampling,
///     ..Progress::waiting(0, 5000)
/// };
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
    /// The iteration from which a checkpoint was continued; zero for a chain that began at its start.
    pub resumed_from: u64,
    /// The time since the chain was started or resumed.
    pub elapsed: Duration,
    /// The number of iterations per second in this time.
    pub rate: f64,
    /// The last estimate of the log density: see [`StepInfo`](crate::chain::StepInfo::log_posterior).
    pub log_posterior: f64,
    /// True if the log density is estimated from a minibatch. It then varies from step to step even if the chain stands still.
    pub is_estimate: bool,
    /// The stage of the chain.
    pub stage: ChainStage,
    /// The number of draws of this chain since it was started or resumed whose transition diverged, as Hamiltonian
    /// algorithms record it.
    pub divergences: u64,
    /// The quality of the draws of all chains since they were started or resumed. `None` while there are too few.
    pub quality: Option<Quality>,
}

impl Progress {
    /// Returns the progress of a chain that has not made a step yet.
    pub fn waiting(chain: usize, total: u64) -> Self {
        Self {
            chain,
            iteration: 0,
            total,
            resumed_from: 0,
            elapsed: Duration::ZERO,
            rate: 0.0,
            log_posterior: f64::NAN,
            is_estimate: false,
            stage: ChainStage::Waiting,
            divergences: 0,
            quality: None,
        }
    }

    /// Returns the remaining time at the current rate.
    pub fn remaining(&self) -> Duration {
        let left = self.total.saturating_sub(self.iteration) as f64 / self.rate;
        Duration::try_from_secs_f64(left).unwrap_or(Duration::ZERO)
    }
}

/// Shows the rate, the remaining time (the elapsed time if the chain has ended) and the log posterior:
/// "1802/s, 1 min 12 s left, log posterior -29671.4". The stages before sampling, divergences and the iteration from
/// which the chain continues are named where there are any.
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stage == ChainStage::Waiting {
            return self.stage.fmt(f);
        }
        if matches!(self.stage, ChainStage::BurnIn | ChainStage::Adaptation) {
            write!(f, "{}, ", self.stage)?;
        }
        let digits = if self.rate < 10.0 { 2 } else { 0 };
        write!(f, "{:.digits$}/s, ", self.rate)?;
        match self.stage {
            ChainStage::Complete => write!(f, "ended after {}", in_words(self.elapsed))?,
            stage if stage.has_ended() => write!(f, "{stage} after {}", in_words(self.elapsed))?,
            _ => write!(f, "{} left", in_words(self.remaining()))?,
        }
        if self.log_posterior.is_finite() {
            let estimated = if self.is_estimate { "estimated " } else { "" };
            write!(f, ", {estimated}log posterior {:.1}", self.log_posterior)?;
        }
        if self.resumed_from > 0 {
            write!(f, ", continues from iteration {}", self.resumed_from)?;
        }
        if self.divergences > 0 {
            // Divergences before the checkpoint are not counted.
            let since = if self.resumed_from > 0 { " since then" } else { "" };
            write!(f, ", {} divergent{since}", self.divergences)?;
        }
        Ok(())
    }
}

/// Formats a duration in the two largest units.
pub(super) fn in_words(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_described_in_words() {
        let at = |iteration, rate, stage| Progress {
            iteration,
            elapsed: Duration::from_secs(3725),
            rate,
            log_posterior: -12.34,
            stage,
            ..Progress::waiting(1, 10_000)
        };
        let sampling = ChainStage::Sampling;
        assert_eq!(at(9000, 250.0, sampling).to_string(), "250/s, 4 s left, log posterior -12.3");
        assert_eq!(at(2500, 100.0, sampling).to_string(), "100/s, 1 min 15 s left, log posterior -12.3");
        assert_eq!(at(1000, 1.25, sampling).to_string(), "1.25/s, 2 h 0 min left, log posterior -12.3");
        assert_eq!(
            at(10_000, 2.5, ChainStage::Complete).to_string(),
            "2.50/s, ended after 1 h 2 min, log posterior -12.3"
        );
        let estimate = Progress { is_estimate: true, ..at(9000, 250.0, sampling) };
        assert_eq!(estimate.to_string(), "250/s, 4 s left, estimated log posterior -12.3");
        assert_eq!(Progress::waiting(1, 10).to_string(), "waiting");
        let resumed = Progress { divergences: 3, resumed_from: 70, ..at(100, 100.0, ChainStage::BurnIn) };
        let expected =
            "burn-in, 100/s, 1 min 39 s left, log posterior -12.3, continues from iteration 70, 3 divergent since then";
        assert_eq!(resumed.to_string(), expected);
    }
}
