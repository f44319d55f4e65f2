//! Parquet with one row per draw. `pandas.read_parquet`, polars, DuckDB and R's arrow read it.
//!
//! The columns are `chain`, `draw` (both counted from 0), `iteration`, `weight`, `lp`, the sample statistics of the
//! run, and one column per value (`beta[3]`, `W[2,5]`). A repeated name gets an underscore. The original names, the
//! shapes and the constraints are in the metadata of the file.
//!
//! A Parquet file is invalid until its footer is written. A run therefore writes a directory of parts, and each part
//! appears when it is complete. This library and other tools read the directory as one table. A whole fit is one file.
//! The metadata of a part and the hidden file `.chain-<k>.begun` have the number of draws that the chain was to make. A
//! chain with fewer draws counts as stopped.

mod reader;
mod writer;

pub use reader::read;
pub(super) use reader::read_within;
pub use writer::{ParquetDraws, write};

/// Returns the name of the file with the number of draws that a chain is to make. It is written when the chain begins.
fn begun_name(chain: usize) -> String {
    format!(".chain-{chain}.begun")
}
