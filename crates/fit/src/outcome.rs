//! Outcomes of chains.

use std::fmt;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::Error;

/// The outcome of a chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::{ChainDraws, ChainOutcome};
/// use sgmcmc::{Fit, Layout};
///
/// let fit = Fit::new(Layout::vector("theta", 1), vec![ChainDraws::new(1, vec![])])?;
/// assert_eq!(fit.outcomes(), [ChainOutcome::Complete]);
/// assert_eq!(fit.outcomes()[0].to_string(), "complete");
/// let fit = fit.with_outcomes(vec![ChainOutcome::Stopped])?;
/// assert!(fit.summary().warnings()[0].contains("was stopped"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "SerializedOutcome", into = "SerializedOutcome")]
pub enum ChainOutcome {
    /// The chain has all requested draws.
    Complete,
    /// The chain was stopped by a signal. It has the draws made before the signal.
    Stopped,
    /// The chain failed with this error. It has the draws made before the error.
    Failed(Error),
}

impl ChainOutcome {
    /// Returns whether the chain failed because it diverged: a gradient or a position was no longer finite.
    pub fn is_divergence(&self) -> bool {
        matches!(self, Self::Failed(Error::Diverged { .. } | Error::RecordedDivergence { .. }))
    }
}

/// Shows the outcome in words: "complete", "stopped", or "failed" with the reason.
impl fmt::Display for ChainOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::Stopped => f.write_str("stopped"),
            Self::Failed(error) => write!(f, "failed: {error}"),
        }
    }
}

/// The serialized form of an outcome, with the message of the error.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SerializedOutcome {
    Complete,
    Stopped,
    Failed(String),
    Diverged(String),
}

impl From<ChainOutcome> for SerializedOutcome {
    fn from(outcome: ChainOutcome) -> Self {
        let diverged = outcome.is_divergence();
        match outcome {
            ChainOutcome::Failed(error) if diverged => Self::Diverged(error.to_string()),
            ChainOutcome::Complete => Self::Complete,
            ChainOutcome::Stopped => Self::Stopped,
            ChainOutcome::Failed(error) => Self::Failed(error.to_string()),
        }
    }
}

impl From<SerializedOutcome> for ChainOutcome {
    fn from(serialized: SerializedOutcome) -> Self {
        match serialized {
            SerializedOutcome::Complete => Self::Complete,
            SerializedOutcome::Stopped => Self::Stopped,
            SerializedOutcome::Failed(message) => Self::Failed(Error::Recorded { message }),
            SerializedOutcome::Diverged(message) => Self::Failed(Error::RecordedDivergence { message }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_ending_is_kept() {
        let diverged =
            Error::Diverged { what: "the value", element: "x".into(), value: 1e300, iteration: 3, remedy: "r" };
        for error in [diverged, Error::Recorded { message: "the sink is full".into() }] {
            let outcome = ChainOutcome::Failed(error.clone());
            let read: ChainOutcome = crate::codec::decode(&crate::codec::encode(&outcome).unwrap()).unwrap();
            assert_eq!(read.is_divergence(), outcome.is_divergence());
            assert!(matches!(&read, ChainOutcome::Failed(found) if found.to_string() == error.to_string()));
        }
    }
}
