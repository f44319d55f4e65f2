//! Files: [readers](read) of data, [mapped files](mapped) for data larger than memory, [checkpoints](FileCheckpoints) of
//! runs, and [fits] in formats that other tools read.
//!
//! Error messages name the file, the line or row, and the column.

mod checkpoint;
pub mod error;
pub mod fits;
pub mod limit;
pub mod mapped;
pub mod read;
pub mod source;

#[doc(inline)]
pub use sgmcmc_output as output;

pub use checkpoint::FileCheckpoints;
pub use error::{Error, FileError, FilePosition, Problem, Result};
pub use limit::{memory_limit, set_memory_limit};
