//! Checkpoints of runs on several ranks.
//!
//! | store | run | on resuming |
//! |---|---|---|
//! | [`RootCheckpoints`] | chains whose state is the same on all ranks ([data-parallel](crate::data_parallel)) | rank 0 has the checkpoint and sends it to all |
//! | [`EpochCheckpoints`], in [`RunCheckpoints`] | ranks with states of their own ([DSGLD](crate::dsgld), [factorizations](crate::factorization)) | all ranks resume from the newest epoch that all have |

mod epoch;
mod root;
mod run;
#[cfg(test)]
mod tests;

pub use epoch::{EpochCheckpoints, Resumed};
pub use root::RootCheckpoints;
pub use run::RunCheckpoints;
