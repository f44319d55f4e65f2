//! What can go wrong on the way to a picture or a page.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Why a plot or a page could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such parameter.
    #[error(transparent)]
    Parameter(#[from] sgmcmc_core::Error),

    /// No chain recorded a statistic of this name.
    #[error("the fit has no statistic `{name}`; it has {known}")]
    Statistic {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },

    /// The plot cannot be drawn from what was given.
    #[error("cannot draw the {plot}: {reason}")]
    Input {
        /// Which plot.
        plot: &'static str,
        /// What is wrong with what was given, and what was expected.
        reason: String,
    },

    /// The plotting crate refused.
    #[error("the plot could not be drawn: {0}")]
    Drawing(String),

    /// A file name that says no format known here.
    #[error("`{}`: a plot is saved as .svg{}", path.display(), if cfg!(feature = "png") { " or .png" } else { "; .png needs the feature `png`" })]
    Format {
        /// The name.
        path: PathBuf,
    },

    /// A picture of pixels needs a font, and the system has none.
    #[error("`{}`: a PNG needs a sans-serif font and this system has none; install one (Debian: fonts-dejavu-core), or save as .svg", path.display())]
    NoFont {
        /// The file that was to be written.
        path: PathBuf,
    },

    /// The file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// The result of drawing.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Writes a file, all of it or nothing.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    sgmcmc_files::write_atomically(path, |file| file.write_all(bytes))
        .map_err(|source| Error::Write { path: path.to_owned(), source })
}
