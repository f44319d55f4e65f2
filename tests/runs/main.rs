//! Runs: sampling, checkpoints, interruptions, sinks, and the analysis of fits.

mod answers;
mod checkpoints;
mod compose;
mod interleaving;
mod killed;
mod labels;
mod quickstart;
mod reliability;
mod sampling;
mod shards;
mod tuning;
