//! Data sets: columns of numbers in host memory or in a mapped file, seen by closures as a tree of tensors.

mod buffer;
mod column;
mod columns;
mod convert;
mod dataset;
mod rows;
mod scaling;
mod split;

pub use buffer::{Buffer, Owner};
pub use column::{Column, Values};
pub use columns::Columns;
pub use dataset::{Dataset, Precision};
pub use rows::{Rows, Selection, Weights};
pub use scaling::Scaling;
