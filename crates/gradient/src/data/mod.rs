//! Observations in host memory or in a mapped file, and selections of them.

mod buffer;
mod column;
mod columns;
mod fingerprint;
mod precision;
mod rows;

pub use buffer::{Buffer, BufferOwner};
pub use column::{Column, ElementType, Kind, Values};
pub use columns::{Columns, check_columns, find};
pub use fingerprint::fingerprint;
pub use precision::Precision;
pub use rows::{Rows, Selection, Weights};
