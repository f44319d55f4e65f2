//! What runs leave on disk: checkpoints, and draws as they are made.

mod checkpoint;
mod csv_draws;

pub use checkpoint::FileCheckpoints;
pub use csv_draws::CsvDraws;
