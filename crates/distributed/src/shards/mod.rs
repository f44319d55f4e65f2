//! Shards of a data set and the subposteriors given them.
//!
//! [`Shards`] divides the observations. [`Shards::run`] samples from the [`Subposterior`] of every shard in parallel, with
//! any kernel, and [`ShardFits::combine`] combines the draws, see [`combine`](crate::combine).

mod error;
mod of_rank;
mod run;
mod shard;
mod split;
mod subposterior;
#[cfg(test)]
mod tests;

pub use error::{Error, Result, ShardFailure};
pub use run::ShardFits;
pub use shard::{Shard, ShardModel};
pub use split::Shards;
pub use subposterior::Subposterior;
