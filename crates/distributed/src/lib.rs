//! Shards, combination of subposteriors, and runs on many machines.

pub mod chains;
pub mod checkpoint;
pub mod collective;
pub mod data_parallel;
pub mod dsgld;
pub mod factorization;
pub mod input;

#[cfg(test)]
mod testing;
