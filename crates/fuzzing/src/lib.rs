//! Damaged files for every reader.
//!
//! [`corpus`] writes a few valid files per format, [`mutate()`] damages them, and [`targets`] reads them. [`Guard`] is
//! an allocator that aborts the process if a reader exceeds its memory limit. [`run()`] combines them. The short run of
//! the tests and the long run of the slow suite differ only in the number of cases. The coverage-guided targets in
//! `fuzz/` use the same corpus.

mod checkpoint;
pub mod corpus;
mod guard;
pub mod input;
mod mutate;
pub mod pack;
mod repair;
mod run;
pub mod targets;

pub use guard::{Guard, allow};
pub use mutate::mutate;
pub use run::{Count, run};
