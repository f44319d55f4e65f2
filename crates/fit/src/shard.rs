//! The part of a data set that a fit has seen.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The powers of prior and likelihood in a subposterior, the posterior of one of S shards of a data set.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Tempering;
///
/// assert_eq!(Tempering::FractionalPrior.to_string(), "prior^(1/S)");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tempering {
    /// The density p(θ)^{1/S} Π p(xᵢ|θ) over the observations of the shard. The product of all subposteriors is the
    /// posterior.
    #[default]
    FractionalPrior,
    /// The density p(θ) Π p(xᵢ|θ)^S over the observations of the shard. Each subposterior is about as wide as the
    /// posterior.
    Inflated,
}

impl fmt::Display for Tempering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FractionalPrior => "prior^(1/S)",
            Self::Inflated => "likelihood^S",
        })
    }
}

/// The shard of the data that a fit has seen. Files keep it with the draws, so that shards are combined correctly.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::{RunInfo, ShardInfo, Tempering};
///
/// let shard = ShardInfo { index: 2, count: 8, observations: 4000, tempering: Tempering::FractionalPrior };
/// assert_eq!(shard.to_string(), "index 2 of 8, prior^(1/S), 4000 observations in all shards");
/// assert_eq!(RunInfo { shard: Some(shard), ..RunInfo::default() }.shard, Some(shard));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardInfo {
    /// The index of the shard, from 0.
    pub index: usize,
    /// The number S of shards.
    pub count: usize,
    /// The number of observations of all shards together.
    pub observations: usize,
    /// The powers of prior and likelihood.
    pub tempering: Tempering,
}

impl fmt::Display for ShardInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, count, observations, tempering } = self;
        write!(f, "index {index} of {count}, {tempering}, {observations} observations in all shards")
    }
}
