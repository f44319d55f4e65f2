//! The directory of the data sets, and synthetic data in place of missing files.

#[path = "data_files.rs"]
mod data_files;

pub use data_files::or_synthetic;

use crate::flags::Flags;

/// Returns the directory of the data sets: `--data`, or the environment variable `SGMCMC_DATA`, or `data`.
pub fn directory(flags: &mut Flags) -> String {
    flags.get("data", data_files::default_directory(), "directory of the data sets (SGMCMC_DATA)")
}
