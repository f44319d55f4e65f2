//! Data sets: columns of numbers in host memory, seen by closures as a tree of tensors.

mod column;
mod dataset;
mod rows;

pub use column::{Column, Values};
pub use dataset::{Columns, Dataset, Precision};
pub use rows::{Rows, Selection, Weights};
