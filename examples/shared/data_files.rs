//! The default directory of data sets, and synthetic data in place of missing files.

use sgmcmc::storage::{Error, Result};

/// Returns the environment variable `SGMCMC_DATA`, or `data`.
pub fn default_directory() -> String {
    std::env::var("SGMCMC_DATA").unwrap_or_else(|_| "data".into())
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
