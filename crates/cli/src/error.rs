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
    /// An argument is both a file and a parameter of the fit.
    #[error(
        "`{0}` is both a file and a parameter; write `./{0}` for the file, or run the command in another directory for the parameter"
    )]
    Ambiguous(String),
    /// Models could not be compared.
    #[error("the models cannot be compared: {0}")]
    Comparison(#[from] sgmcmc_diagnostics::Error),
    /// The fit has no such predictive draws.
    #[error(
        "`{}` has no draws to choose in the group `{group}`: {}", path.display(),
        if known.is_empty() {
            "add them with `fit.with_posterior_predictive(name, …)` and save the fit again".to_owned()
        } else {
            format!("name one of {known}")
        }
    )]
    NoPredictions {
        /// The fit.
        path: PathBuf,
        /// The group.
        group: String,
        /// The names of the variables of the group.
        known: String,
    },
    /// A plot of one statistic or observed variable was requested with another number of names.
    #[error("this plot takes the name of one statistic or observed variable; {0} were given")]
    OneName(usize),
    /// A plot of one value was requested for another number of values.
    #[error("this plot shows one value; {0} were named: name one, such as 'beta[0]'")]
    OneValue(usize),
    /// A plot cannot be drawn in the terminal.
    #[error("this kind of plot cannot be drawn in the terminal; name a file with --output plot.svg")]
    NeedsOutput,
    /// The probability of an interval is out of range.
    #[error("the probability of the interval is {0}; give a number between 0 and 1")]
    Probability(f64),
    /// A file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
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
    #[error("`{}`: the name stands for no format: use one of the extensions {}", .0.display(), sgmcmc_storage::fits::extensions().join(", "))]
    UnknownExtension(PathBuf),
    /// The reader of a table for programs closed the pipe before the end.
    #[error("the reader of the output closed the pipe before the end")]
    Truncated,
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}
