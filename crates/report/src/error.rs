//! Errors of plots and reports.

use std::io::Write;
use std::path::{Path, PathBuf};

/// An error of a plot or a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The fit has no parameter with this name.
    #[error(transparent)]
    Parameter(#[from] sgmcmc_gradient::Error),

    /// No chain recorded a statistic with this name.
    #[error("the fit has no statistic `{name}`; it has {known}")]
    Statistic {
        /// The requested name.
        name: String,
        /// The names of the recorded statistics.
        known: String,
    },

    /// The plot cannot be drawn from these arguments.
    #[error("cannot draw the {plot}: {reason}")]
    Input {
        /// The kind of plot.
        plot: &'static str,
        /// The invalid argument and the expected one.
        reason: String,
    },

    /// The plotting crate returned an error.
    #[error("the plot could not be drawn: {0}")]
    Drawing(String),

    /// The extension of the file name is not a known format.
    #[error("`{}`: a plot is saved as .svg{}", path.display(), if cfg!(feature = "png") { " or .png" } else { "; .png needs the feature `png`" })]
    Format {
        /// The file name.
        path: PathBuf,
    },

    /// A PNG needs a font, and none is installed.
    #[error("`{}`: a PNG needs a sans-serif font and this system has none; install one (Debian: fonts-dejavu-core), or save as .svg", path.display())]
    NoFont {
        /// The file name.
        path: PathBuf,
    },

    /// The file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file name.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// The result of a plot or a report.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Writes a file atomically.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    sgmcmc_output::write_atomically(path, |file| file.write_all(bytes))
        .map_err(|source| Error::Write { path: path.to_owned(), source })
}
