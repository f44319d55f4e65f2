//! Synthetic data in place of missing files.

use sgmcmc::storage::{Error, Result};

/// Returns `loaded`, or the synthetic data if the files are missing. Prints a message in the latter case.
///
/// # Errors
///
/// Returns the error of loading, unless the files are missing, or the error of `synthetic`.
pub(super) fn or_synthetic<T>(loaded: Result<T>, synthetic: impl FnOnce() -> Result<T>) -> Result<T> {
    match loaded {
        Err(absent @ Error::Absent { .. }) => {
            println!("SYNTHETIC data, because {absent}");
            synthetic()
        }
        loaded => loaded,
    }
}
