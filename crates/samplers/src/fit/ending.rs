//! How chains end.

use serde::{Deserialize, Serialize};
use sgmcmc_core::Error;

/// How a chain ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Told", into = "Told")]
pub enum Ending {
    /// All draws were made.
    Complete,
    /// It was asked to stop; the draws up to there are kept.
    Stopped,
    /// It failed; the draws up to there are kept.
    Failed(Error),
}

/// An ending as it is written: of an error, its message.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Told {
    Complete,
    Stopped,
    Failed(String),
}

impl From<Ending> for Told {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Complete => Self::Complete,
            Ending::Stopped => Self::Stopped,
            Ending::Failed(error) => Self::Failed(error.to_string()),
        }
    }
}

impl From<Told> for Ending {
    fn from(told: Told) -> Self {
        match told {
            Told::Complete => Self::Complete,
            Told::Stopped => Self::Stopped,
            Told::Failed(message) => Self::Failed(Error::Recorded { message }),
        }
    }
}
