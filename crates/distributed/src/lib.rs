//! Shards, combination of subposteriors, and runs on many machines.

pub mod combine;
pub mod shards;

pub use shards::{Shard, ShardFits, Shards, Subposterior};
