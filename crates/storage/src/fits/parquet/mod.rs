//! Parquet, a row per draw: `pandas.read_parquet`, polars, DuckDB, R's arrow.
//!
//! The columns are `chain`, `draw` (both from 0), `iteration`, `weight`, `lp`, the run's sample statistics, and one per value with
//! its name (`beta[3]`, `W[2,5]`). A name that comes twice gets an underscore; the names as they really are, shapes and constraints
//! are in the metadata of the file.
//!
//! A Parquet file is nothing until its footer is written. A run therefore writes a directory of parts, each of which is whole or not
//! there; the directory is read as one table, by this library and the others. A whole fit goes into one file. The metadata of a part
//! and the hidden file `.chain-<k>.begun` have the number of draws that the chain was to make: a chain with fewer counts as stopped.

mod reader;
mod writer;

pub use reader::read;
pub(super) use reader::read_within;
pub use writer::{ParquetDraws, write};

/// The key of the metadata that has what only this library knows.
const OWN: &str = "sgmcmc";

/// The columns before sample statistics and values.
const FIRST: [&str; 5] = ["chain", "draw", "iteration", "weight", "lp"];

/// The file that says that a chain has begun, and how many draws it is to make.
fn begun_name(chain: usize) -> String {
    format!(".chain-{chain}.begun")
}
