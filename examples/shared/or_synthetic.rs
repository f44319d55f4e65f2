//! Real data where they are there, synthetic data of the same shape where they are not; which is said aloud.

use sgmcmc::storage::{Error, Result};

/// What was `loaded`, or `synthetic` where the files are not there.
pub fn or_synthetic<T>(loaded: Result<T>, synthetic: impl FnOnce() -> Result<T>) -> Result<T> {
    match loaded {
        Err(absent @ Error::Absent { .. }) => {
            println!("SYNTHETIC data, because {absent}");
            synthetic()
        }
        loaded => loaded,
    }
}
