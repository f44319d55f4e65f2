//! Plots and reports as methods of fits.

use std::path::Path;

use sgmcmc_fit::Fit;

use crate::error::Result;
use crate::page::Report;
use crate::plotter::Plotter;

/// Methods of [`Fit`] that draw plots and write reports.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).seed(1).chains(2).sample(&zeros([2]), 100)?;
/// let directory = std::env::temp_dir();
/// fit.plot().trace("theta")?.save(directory.join("sgmcmc-doc-trace.svg"))?;
/// fit.report(directory.join("sgmcmc-doc-report.html"))?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Plots {
    /// Returns a builder of single plots.
    fn plot(&self) -> Plotter<'_>;

    /// Writes a self-contained HTML page of the fit to a file. [`Report`] has options.
    ///
    /// # Errors
    ///
    /// Returns an error if a plot cannot be drawn, or if the file cannot be written.
    fn report(&self, path: impl AsRef<Path>) -> Result<()>;
}

impl Plots for Fit {
    fn plot(&self) -> Plotter<'_> {
        Plotter::new(self)
    }

    fn report(&self, path: impl AsRef<Path>) -> Result<()> {
        Report::new(self).write(path)
    }
}
