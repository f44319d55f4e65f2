//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  sgmcmc summary fit.sgmcmc                       a table of all parameters
  sgmcmc summary fit.zarr beta --format csv       of `beta` only, for a spreadsheet
  sgmcmc check fit.sgmcmc && publish              exit code 1 where the fit has problems
  sgmcmc report fit.sgmcmc                        writes fit.html, one page with all plots
  sgmcmc convert fit.sgmcmc fit.zarr              for Python: arviz.from_zarr(\"fit.zarr\")
  sgmcmc info fit.parquet                         names, shapes, chains, and how the run was made

A FIT is a file or a directory of any of these formats, found by its content:
  .sgmcmc (native)   .json (nested, ArviZ)   .csv (Stan)   .parquet   .zarr (ArviZ)

Exit codes: 0 fine, 1 check found problems, 2 wrong usage or a file that cannot be read or written,
141 the reader of a table in CSV or JSON left before its end.
SGMCMC_MEMORY_LIMIT: the most memory that reading a fit may take, in bytes [default: 2147483648].";

/// Looks at saved fits: whether they can be trusted, what they say, and how they look.
#[derive(Debug, Parser)]
#[command(name = "sgmcmc", version, about, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prints a table: mean, sd, 89 % interval, ESS, R-hat and Monte Carlo errors of every parameter
    Summary(Summary),
    /// Says in words whether the fit can be trusted, and what helps; exit code 1 where it found problems
    Check(Check),
    /// Writes one self-contained HTML page: verdict, table and plots
    Report(Report),
    /// Writes the fit in another format, told by the ending of OUTPUT
    Convert(Convert),
    /// Prints names and shapes of the parameters, the chains, and how the run was made
    Info(Info),
}

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, long tensors folded
    Table,
    /// Comma-separated values, all digits
    Csv,
    /// JSON, all digits
    Json,
    /// A Markdown table
    Markdown,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc summary fit.sgmcmc beta sigma --format markdown")]
pub(crate) struct Summary {
    /// The fit
    pub(crate) fit: PathBuf,
    /// Only these parameters
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameters: Vec<String>,
    /// How the table is printed
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Every element of long tensors
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc check fit.sgmcmc || echo 'run longer'")]
pub(crate) struct Check {
    /// The fit
    pub(crate) fit: PathBuf,
    /// Print nothing: the exit code says it
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc report fit.zarr --output fit.html --title 'Logistic regression'")]
pub(crate) struct Report {
    /// The fit
    pub(crate) fit: PathBuf,
    /// The page [default: the name of the fit, ending in .html]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// The title of the page [default: the name of the fit]
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// How many parameters have plots of their own; of more, the worst by R-hat and ESS
    #[arg(long, default_value_t = 100, value_name = "COUNT")]
    pub(crate) limit: usize,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc convert fit.sgmcmc fit.zarr\n\n\
    Endings: .sgmcmc (native, keeps everything), .json, .csv (Stan), .parquet, .zarr (ArviZ)\n\n\
    The output is written beside its place and renamed when it is complete. With --force a directory is replaced\n\
    only if all files in it are those of a fit that this program or the library wrote.")]
pub(crate) struct Convert {
    /// The fit
    pub(crate) fit: PathBuf,
    /// Where to; the ending tells the format
    pub(crate) output: PathBuf,
    /// Replace a fit that is there
    #[arg(long, short)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc info fit.sgmcmc")]
pub(crate) struct Info {
    /// The fit
    pub(crate) fit: PathBuf,
}
