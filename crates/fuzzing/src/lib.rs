//! Damaged files for every reader.
//!
//! [`corpus`] makes a few valid files per format, [`mutate`] damages them, [`targets`] reads them, and [`Guard`] is an allocator that
//! ends the process when a reader takes more memory than it may. [`run`] puts these together: the short run of the tests and the
//! long run of the slow suite differ in the number of cases only. The coverage-guided targets in `fuzz/` use the same corpus.

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
