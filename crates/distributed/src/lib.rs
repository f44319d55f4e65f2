//! Shards, combination of subposteriors, and runs on many machines.
//!
//! Without the default feature `runs`, the crate is the module [`combine`], which needs no sampler.

#[cfg(feature = "runs")]
pub mod chains;
#[cfg(feature = "runs")]
pub mod checkpoint;
#[cfg(feature = "runs")]
pub mod collective;
pub mod combine;
#[cfg(feature = "runs")]
pub mod data_parallel;
#[cfg(feature = "runs")]
pub mod dsgld;
#[cfg(feature = "runs")]
mod evaluator;
#[cfg(feature = "runs")]
pub mod factorization;
#[cfg(feature = "runs")]
pub mod input;
#[cfg(feature = "runs")]
pub mod shards;

#[cfg(all(test, feature = "runs"))]
mod testing;
