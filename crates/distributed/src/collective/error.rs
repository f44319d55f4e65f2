//! Errors of ranks that work together.

/// An error of a run on several ranks.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::collective::{Error, on_threads};
///
/// let error = on_threads(3, |ranks| match ranks.rank() {
///     1 => Err(Error::Setting { name: "the temperature", value: "-1".into(), expected: "it is at least 0" }),
///     _ => ranks.barrier(),
/// });
/// assert_eq!(error.unwrap_err().to_string(), "rank 1 of 3 failed: the temperature is -1: it is at least 0");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rank failed. All other ranks receive this error when they next communicate.
    #[error("rank {rank} of {size} failed: {message}")]
    RankFailed {
        /// The rank that failed.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// The message of its error.
        message: String,
    },
    /// A rank ended its part of the run while another one waited for a message from it.
    #[error("rank {rank} of {size} ended while rank {waiting} waited for it: every rank must run the same program")]
    RankEnded {
        /// The rank that ended.
        rank: usize,
        /// The number of ranks.
        size: usize,
        /// The rank that waited.
        waiting: usize,
    },
    /// A message did not have the length that its receiver expected.
    #[error(
        "rank {to} expected {expected} bytes from rank {from} and received {found}: every rank must run the same \
         program with the same settings"
    )]
    MessageLength {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The expected number of bytes.
        expected: usize,
        /// The number of bytes that arrived.
        found: usize,
    },
    /// The ranks did not call the same operation with the same arguments.
    #[error("the ranks do not agree on {what}: {remedy}")]
    Disagreement {
        /// The value on which they do not agree.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The program was started as several ranks that it cannot connect.
    #[error("{reason}")]
    Launch {
        /// The reason and the remedy.
        reason: String,
    },
    /// A setting is out of range.
    #[error("{name} is {value}: {expected}")]
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// The given value.
        value: String,
        /// The requirement.
        expected: &'static str,
    },
    /// The fits of the ranks cannot be combined.
    #[error(transparent)]
    Combine(#[from] crate::combine::Error),
    /// An error of the model, of a setting, of a checkpoint or of the data.
    #[error(transparent)]
    Model(#[from] sgmcmc_gradient::Error),
}

/// The result of an operation on several ranks.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Error> for sgmcmc_gradient::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Model(error) => error,
            other => Self::Communication { reason: other.to_string() },
        }
    }
}

impl From<sgmcmc_storage::Error> for Error {
    fn from(error: sgmcmc_storage::Error) -> Self {
        Self::Model(sgmcmc_gradient::Error::Recorded { message: error.to_string() })
    }
}
