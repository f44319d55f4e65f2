//! Outcomes of chains.

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

/// The serialized form of an outcome, with the message of the error.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SerializedOutcome {
    Complete,
    Stopped,
    Failed(String),
}

impl From<ChainOutcome> for SerializedOutcome {
    fn from(outcome: ChainOutcome) -> Self {
        match outcome {
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
        }
    }
}
