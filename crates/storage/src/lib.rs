//! Files. Data sets: [readers](read) of the usual formats, [mapped files](mapped) for data larger than memory, and
//! [well-known data sets](datasets) with synthetic ones of the same shape. [Runs](runs): checkpoints, and draws as they are made.
//! [Fits](fits): the results of runs, in files that other tools read.
//!
//! Messages name the file, the line or row, and the column.

pub mod datasets;
pub mod error;
pub mod fits;
pub mod limit;
pub mod mapped;
pub mod read;
pub mod runs;
mod source;

#[doc(inline)]
pub use sgmcmc_files as output;

pub use error::{Error, FileError, Place, Problem, Result};
pub use limit::{memory_limit, set_memory_limit};
pub use mapped::{CreateMapped, Mapped, MappedDataset, MappedWriter};
pub use runs::{CsvDraws, FileCheckpoints};
