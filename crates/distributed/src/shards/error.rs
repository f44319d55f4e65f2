//! Errors of shards.

/// The result of an operation on shards.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a division into shards, or of the runs on them.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::shards::{self, Shards};
///
/// let error = Shards::from_rows(3, vec![vec![0, 2], vec![2]]).unwrap_err();
/// assert_eq!(error, shards::Error::Repeated { observation: 2, one: 0, other: 1 });
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are more shards than observations, or none.
    #[error(
        "{observations} observations cannot be divided into {shards} shards: use at least 1 shard and at most one per observation"
    )]
    Count {
        /// The number of observations.
        observations: usize,
        /// The number of shards.
        shards: usize,
    },
    /// A shard has no observations.
    #[error("shard {shard} has no observation: give every shard at least one")]
    Empty {
        /// The index of the shard.
        shard: usize,
    },
    /// An observation does not exist.
    #[error("shard {shard} has observation {observation}, but there are {observations}, counted from 0")]
    OutOfRange {
        /// The index of the shard.
        shard: usize,
        /// The index of the observation.
        observation: usize,
        /// The number of observations.
        observations: usize,
    },
    /// An observation is in two shards, or twice in one.
    #[error(
        "observation {observation} is in shard {one} and again in shard {other}: put every observation in one shard"
    )]
    Repeated {
        /// The index of the observation.
        observation: usize,
        /// The index of the first shard.
        one: usize,
        /// The index of the second shard.
        other: usize,
    },
    /// An observation is in no shard.
    #[error("{count} observations are in no shard, the first is {observation}: put every observation in one shard")]
    Missing {
        /// The index of the first such observation.
        observation: usize,
        /// The number of such observations.
        count: usize,
    },
    /// The column of labels has several numbers per observation.
    #[error("column `{column}` has {width} numbers per observation: stratify by a column with one")]
    Labels {
        /// The name of the column.
        column: String,
        /// The number of numbers per observation.
        width: usize,
    },
    /// Some shards failed.
    #[error("{}", describe(.0))]
    Failed(Vec<ShardFailure>),
    /// The draws of the shards cannot be combined.
    #[error(transparent)]
    Combine(#[from] crate::combine::Error),
}

/// A shard, or one of its chains, that failed.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::shards::Shards;
/// use sgmcmc::gradient::Error;
///
/// let fits = Shards::random(10, 2, 0)?.run(|_shard| Err(Error::EmptyModel));
/// assert!(fits.failures()[1].to_string().starts_with("shard 1: "));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("shard {shard}{}: {source}", chain.map_or_else(String::new, |chain| format!(", chain {chain}")))]
pub struct ShardFailure {
    /// The index of the shard.
    pub shard: usize,
    /// The index of the chain. `None` if the run could not begin.
    pub chain: Option<usize>,
    /// The reason.
    pub source: sgmcmc_gradient::Error,
}

/// Describes the failures and the remedy.
fn describe(failures: &[ShardFailure]) -> String {
    let failures: Vec<String> = failures.iter().map(ToString::to_string).collect();
    let remedy =
        "run these shards again with other settings, and put the new fits in their places with `ShardFits::replace`";
    format!("{}; {remedy}", failures.join("; "))
}
