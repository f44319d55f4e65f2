//! Plain CSV: a header with the names of the columns, then one line per draw. One file per chain.
//!
//! ```text
//! iteration,weight,log_posterior,alpha,mu,"W[0,0]","W[0,1]"
//! 1,0.001,-3.5,1,0.25,-0.5,2
//! ```
//!
//! [`CsvDraws`] writes the columns `iteration`, `weight` and `log_posterior`, the statistics of the draws, and the
//! values of the parameters. Numbers read back exactly. Spreadsheets and `pandas.read_csv` read the files.
//!
//! The header does not tell statistics from parameters and has no shapes. [`read`] therefore returns every column after
//! `log_posterior` as a value, and derives shapes from the names: `W[0,0]` and `W[0,1]` are a parameter `W`. The number
//! of draws that was planned is not in the file either, so that all chains count as stopped. The [native
//! format](super::native) keeps all of this.

mod reader;
mod sink;

use std::path::Path;

pub use reader::read;
pub(super) use reader::read_within;
pub use sink::CsvDraws;

/// The columns before statistics and values.
const FIRST_COLUMNS: [&str; 3] = ["iteration", "weight", "log_posterior"];

/// The start of every file.
const START: &[u8] = b"iteration,weight,";

/// Returns whether the first bytes of a file are those of this format.
pub(super) fn recognize(start: &[u8]) -> bool {
    start.starts_with(START)
}

/// Returns whether a file has this format.
pub(super) fn is_draws_csv(path: &Path) -> bool {
    super::recognize::file_start(path).is_some_and(|start| recognize(&start))
}

/// Returns whether a file has this format, or is empty or ends within the start of the header, as the file of a chain
/// without draws.
fn is_chain(path: &Path) -> bool {
    super::recognize::file_start(path).is_some_and(|start| recognize(&start) || START.starts_with(&start))
}
