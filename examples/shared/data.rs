//! The directory of the data sets, and synthetic data in place of missing files.

use sgmcmc::storage::{Error, Result};

use crate::flags::Flags;

/// Returns the directory of the data sets: `--data`, or the environment variable `SGMCMC_DATA`, or `data`.
pub fn directory(flags: &mut Flags) -> String {
    let default = std::env::var("SGMCMC_DATA").unwrap_or_else(|_| "data".into());
    flags.get("data", default, "directory of the data sets (SGMCMC_DATA)")
}

/// Returns `loaded`, or the synthetic data if the files are missing. Prints a message in the latter case.
pub fn or_synthetic<T>(loaded: Result<T>, synthetic: impl FnOnce() -> Result<T>) -> Result<T> {
    match loaded {
        Err(absent @ Error::Absent { .. }) => {
            println!("SYNTHETIC data, because {absent}");
            synthetic()
        }
        loaded => loaded,
    }
}
