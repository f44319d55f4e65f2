//! Shards, combination of subposteriors, and runs on many machines.

pub mod chains;
pub mod checkpoint;
pub mod collective;
pub mod combine;
pub mod data_parallel;
pub mod dsgld;
pub mod factorization;
pub mod input;
pub mod shards;

#[cfg(test)]
mod testing;

pub use shards::{Shard, ShardFits, Shards, Subposterior};
