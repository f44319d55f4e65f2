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
    /// An output whose place is that of the input, or of a directory that the input is in.
    #[error(
        "`{}` is not replaced: the fit that is read, `{}`, is there; name another output", output.display(), input.display()
    )]
    OntoInput {
        /// The fit that is read.
        input: PathBuf,
        /// The output.
        output: PathBuf,
    },
    /// A symbolic link to something that is not there.
    #[error("`{}` is a symbolic link to nothing; remove it, or name another file", .0.display())]
    Dangling(PathBuf),
    /// A name whose ending stands for no format.
    #[error("`{}`: the name stands for no format: let it end in .sgmcmc, .json, .csv, .parquet or .zarr", .0.display())]
    Ending(PathBuf),
    /// The reader of a table for programs left before its end.
    #[error("the reader of the output left before its end")]
    CutShort,
    /// Standard output does not take more.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}
