//! Errors of combinations.

use sgmcmc_fit::Tempering;

/// The result of a combination.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a combination of subposteriors.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Consensus, Draws, Error};
///
/// let one = Draws::new(vec![0.0; 10], 1)?;
/// let other = Draws::new(vec![0.0; 10], 2)?;
/// let error = Consensus::default().combine(&[one, other], 0).unwrap_err();
/// assert!(matches!(error, Error::Dimension { shard: 1, found: 2, expected: 1 }));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of one shard.
    #[error("shard {shard}: {source}")]
    Shard {
        /// The index of the shard.
        shard: usize,
        /// The error.
        source: Box<Error>,
    },
    /// There is nothing to combine.
    #[error("there is no shard: give the draws of at least one")]
    NoShards,
    /// A table does not consist of whole draws.
    #[error(
        "{numbers} numbers are not a table of draws of {dim} numbers each: give whole draws of at least one number"
    )]
    Table {
        /// The number of numbers.
        numbers: usize,
        /// The number of numbers per draw.
        dim: usize,
    },
    /// A number is NaN or infinite.
    #[error(
        "draw {draw} has {value} at column {column}: leave such draws out, or sample the shard with a smaller step size"
    )]
    NotFinite {
        /// The index of the draw.
        draw: usize,
        /// The index of the number in the draw.
        column: usize,
        /// The number.
        value: f64,
    },
    /// A weight is negative or not finite, or all are zero, or there is not one per draw.
    #[error(
        "the weights are not one finite number ≥ 0 per draw, with a positive sum: give the weights of the run, or none"
    )]
    Weights,
    /// The draws of two shards differ in length.
    #[error(
        "the draws of shard {shard} have {found} numbers, but those of shard 0 have {expected}: combine shards of one model"
    )]
    Dimension {
        /// The index of the shard.
        shard: usize,
        /// The number of numbers in its draws.
        found: usize,
        /// The number of numbers in the draws of the first shard.
        expected: usize,
    },
    /// A shard has too few draws for the method.
    #[error("shard {shard} has {found} draws, but {method} needs at least {least}: sample the shard longer{remedy}")]
    TooFewDraws {
        /// The index of the shard.
        shard: usize,
        /// The number of draws.
        found: usize,
        /// The smallest number of draws.
        least: usize,
        /// The method.
        method: &'static str,
        /// Another remedy, or an empty text.
        remedy: &'static str,
    },
    /// The sample covariance of a shard is singular.
    #[error(
        "the covariance of the draws of shard {shard} is singular at coordinate {row}: leave out parameters that are constant or combinations of others, or sample the shard longer"
    )]
    Singular {
        /// The index of the shard.
        shard: usize,
        /// The index of the first coordinate that depends on the ones before it.
        row: usize,
    },
    /// A setting is out of its range.
    #[error("{name} is {value}, but {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The valid values.
        expected: &'static str,
    },
    /// No method has this name.
    #[error("there is no method `{name}`: the methods are {known}")]
    UnknownMethod {
        /// The requested name.
        name: String,
        /// The names of all methods.
        known: String,
    },
    /// The subposteriors are not those that the method combines.
    #[error(
        "{method} combines subposteriors with {expected}, but these have {found}: sample the shards with `Shards::tempering({expected_name})`, or choose a method for {found}"
    )]
    Tempering {
        /// The method.
        method: &'static str,
        /// The powers that the method needs.
        expected: Tempering,
        /// The powers that the method needs, as an argument of `Shards::tempering`.
        expected_name: &'static str,
        /// The powers of the subposteriors.
        found: Tempering,
    },
    /// The parameters of two shards differ.
    #[error("shard {shard} does not have the parameters of shard 0: {source}")]
    Parameters {
        /// The index of the shard.
        shard: usize,
        /// The first difference.
        source: sgmcmc_gradient::Error,
    },
    /// A draw is outside the support of its constraint.
    #[error("draw {draw} of chain {chain} has no coordinates: {source}")]
    Coordinates {
        /// The index of the chain.
        chain: usize,
        /// The index of the draw.
        draw: usize,
        /// The reason.
        source: sgmcmc_gradient::Error,
    },
    /// The values of a parameter have no coordinates in which densities can be multiplied.
    #[error(
        "parameter `{parameter}` is a unit vector, whose values have no coordinates that densities can be multiplied in: use another parameterization, for instance angles"
    )]
    NoCoordinates {
        /// The name of the parameter.
        parameter: String,
    },
    /// All chains of a shard failed, or have no draws.
    #[error("it has no chain to combine: {reason}; run this shard again with other settings")]
    NoChain {
        /// The reason.
        reason: String,
    },
    /// A set of fits is not one fit per shard.
    #[error("the fits are not those of one set of shards: {reason}")]
    Incomplete {
        /// The reason, with a remedy.
        reason: String,
    },
    /// Two shards have the same random numbers.
    #[error(
        "shards {one} and {other} have the seed {seed}: their random numbers are the same, so that their draws are not independent; give each shard a seed of its own, as `Shard::seed` does"
    )]
    RepeatedSeed {
        /// The index of the first shard.
        one: usize,
        /// The index of the second shard.
        other: usize,
        /// The seed.
        seed: u64,
    },
    /// The combined fit cannot be assembled.
    #[error(transparent)]
    Fit(#[from] sgmcmc_gradient::Error),
}

impl Error {
    /// Returns this error about the shard with this index.
    pub(crate) fn of_shard(self, shard: usize) -> Self {
        Self::Shard { shard, source: Box::new(self) }
    }
}
