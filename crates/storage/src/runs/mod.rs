//! Checkpoints of runs. The sink [`CsvDraws`] of [`fits::draws_csv`](crate::fits::draws_csv) is also available here.

mod checkpoint;

pub use crate::fits::draws_csv::CsvDraws;
pub use checkpoint::FileCheckpoints;
