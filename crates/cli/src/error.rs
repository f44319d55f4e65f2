//! Errors of the commands.

use std::path::PathBuf;

/// An error of a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// A saved fit could not be read or written.
    #[error(transparent)]
    Storage(#[from] sgmcmc_storage::Error),
    /// The fit has no such parameter.
    #[error("`{}`: {source}", path.display())]
    Parameter {
        /// The fit.
        path: PathBuf,
        /// The error with the requested and the known names.
        source: sgmcmc_gradient::Error,
    },
    /// A report could not be written.
    #[error(transparent)]
    Report(#[from] sgmcmc_report::Error),
    /// The fits cannot be combined.
    #[error(transparent)]
    Combine(#[from] sgmcmc_distributed::combine::Error),
    /// An option does not belong to the method.
    #[error("--{option} is not an option of `{method}`; leave it out, or choose another method")]
    MethodOption {
        /// The option.
        option: &'static str,
        /// The method.
        method: &'static str,
    },
    /// A constraint of the command line cannot be read.
    #[error("`{given}` is not a constraint: write NAME=KIND with one of the kinds {kinds}")]
    Constraint {
        /// The argument.
        given: String,
        /// The valid kinds.
        kinds: String,
    },
    /// The output exists.
    #[error("`{}` exists; name another file, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The output would overwrite the input, or a directory that contains it.
    #[error(
        "`{}` is not replaced: it contains the input `{}`; name another output", output.display(), input.display()
    )]
    OverwritesInput {
        /// The input.
        input: PathBuf,
        /// The output.
        output: PathBuf,
    },
    /// The output is a symbolic link whose target does not exist.
    #[error("`{}` is a symbolic link to nothing; remove it, or name another file", .0.display())]
    DanglingLink(PathBuf),
    /// The extension of the output is not a known format.
    #[error("`{}`: the name stands for no format: use one of the extensions {}", .0.display(), sgmcmc_storage::fits::endings().join(", "))]
    UnknownExtension(PathBuf),
    /// The reader of a table for programs closed the pipe before the end.
    #[error("the reader of the output closed the pipe before the end")]
    Truncated,
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}
