//! What can go wrong.

use std::path::PathBuf;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// A saved fit could not be read or written; names file and place.
    #[error(transparent)]
    Storage(#[from] sgmcmc_storage::Error),
    /// There is no such parameter; names what there is.
    #[error("`{}`: {source}", path.display())]
    Parameter {
        /// The fit.
        path: PathBuf,
        /// What was asked for and what there is.
        source: sgmcmc_core::Error,
    },
    /// A page could not be made; names the file.
    #[error(transparent)]
    Report(#[from] sgmcmc_report::Error),
    /// A file that is already there.
    #[error("`{}` exists; name another file, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// What is there could not be removed.
    #[error("cannot replace `{}`: {source}", path.display())]
    Replace {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Standard output does not take more.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}
