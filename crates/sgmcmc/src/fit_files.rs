//! Files of fits, as methods.

use std::path::Path;

use sgmcmc_fit::Fit;
use sgmcmc_storage::{Result, fits};

/// Methods of [`Fit`] that write and read files.
///
/// The name decides the format: `.sgmcmc`, `.json`, `.csv`, `.nc`, and with the features of these names `.arrow`,
/// `.parquet` and `.zarr`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 100)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-fit-files.sgmcmc");
/// fit.save(&path)?;
/// assert_eq!(Fit::open(&path)?, fit);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait FitFiles: Sized {
    /// Writes the fit to a file or directory, in the format of its name. A file appears under its name only when it is complete.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has no known extension, or the file cannot be written.
    fn save(&self, path: impl AsRef<Path>) -> Result<()>;

    /// Reads a fit from a file or directory in any of the formats.
    ///
    /// # Errors
    ///
    /// Returns an error that names the file if it cannot be read or is not a fit.
    fn open(path: impl AsRef<Path>) -> Result<Self>;
}

impl FitFiles for Fit {
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        fits::save(self, path)
    }

    fn open(path: impl AsRef<Path>) -> Result<Self> {
        fits::open(path)
    }
}
