//! Arrow IPC files (Feather version 2) with one row per draw. `pyarrow.feather.read_table`, `pandas.read_feather`,
//! `polars.read_ipc`, DuckDB and R's `arrow::read_feather` read them.
//!
//! The columns are those of Parquet files: `chain`, `draw` (both counted from 0), `iteration`, `weight`, `lp`, the sample
//! statistics of the run, and one column per value (`beta[3]`, `W[2,5]`). A repeated name gets an underscore. The
//! original names, the shapes and the constraints are in the metadata of the schema.
//!
//! The numbers are not compressed, so that other programs can map the file into memory and use the columns in place.

mod reader;
mod writer;

pub use reader::read;
pub(super) use reader::read_within;
pub use writer::write;
