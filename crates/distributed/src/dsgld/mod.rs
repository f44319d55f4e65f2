//! Chains that visit the shards of a data set: DSGLD, and its correction FSGLD. See [`Dsgld`].

mod approximation;
mod evaluator;
mod gather;
mod hop;
mod rank;
mod run;
mod schedule;
mod segment;
#[cfg(test)]
mod tests;

pub use approximation::{ApproximationShape, ShardApproximation};
pub use evaluator::ShardEvaluator;
pub use run::Dsgld;
