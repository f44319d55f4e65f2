//! The command-line arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sgmcmc_storage::fits;

/// Returns the text below the list of commands.
fn help() -> String {
    let list = |format: fits::Format| format!("  .{:<8} {}: {}", format.ending(), format.name(), format.description());
    let formats: Vec<String> = fits::formats().map(list).collect();
    format!("{EXAMPLES}\n{}\n\n{EXIT_CODES}", formats.join("\n"))
}

/// Returns the text below the arguments of `convert`.
fn convert_help() -> String {
    let endings: Vec<String> = fits::endings().into_iter().map(|ending| format!(".{ending}")).collect();
    format!(
        "Example: sgmcmc convert fit.sgmcmc fit.zarr\n\nExtensions: {}\n\n\
         The output is written to a temporary name and renamed when it is complete. With --force, a directory is replaced\n\
         only if all of its files belong to a fit that was written by this program or the library.",
        endings.join(", ")
    )
}

const EXAMPLES: &str = "\
Examples:
  sgmcmc summary fit.sgmcmc                       print a table of all parameters
  sgmcmc summary fit.zarr beta --format csv       print `beta` only, for a spreadsheet
  sgmcmc check fit.sgmcmc && publish              exit with code 1 if the fit has problems
  sgmcmc report fit.sgmcmc                        write fit.html, a page with all plots
  sgmcmc convert fit.sgmcmc fit.zarr              write the fit for Python: arviz.from_zarr(\"fit.zarr\")
  sgmcmc info fit.parquet                         print names, shapes, chains and run settings

A FIT is a file or a directory. Its format is detected from its content:";

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    `check` found problems
  2    invalid arguments, or a file that cannot be read or written
  141  the reader of CSV or JSON output closed the pipe before the end

Environment:
  SGMCMC_MEMORY_LIMIT  the memory limit for reading a fit, in bytes [default: 2147483648]";

/// Summarizes, checks, plots and converts saved fits.
#[derive(Debug, Parser)]
#[command(name = "sgmcmc", version, about, after_help = help(), arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print a table of mean, sd, 89 % interval, ESS, R-hat and Monte Carlo errors of every parameter
    Summary(Summary),
    /// Check whether the fit can be trusted; print findings and remedies; exit with code 1 if there are problems
    Check(Check),
    /// Write a self-contained HTML page with verdict, table and plots
    Report(Report),
    /// Write the fit in another format, given by the extension of OUTPUT
    Convert(Convert),
    /// Print the names and shapes of the parameters, the chains, the settings of the run, and the decisions of automatic tuning
    Info(Info),
}

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns; long tensors are folded
    Table,
    /// Comma-separated values with all digits
    Csv,
    /// JSON with all digits
    Json,
    /// A Markdown table
    Markdown,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc summary fit.sgmcmc beta sigma --format markdown")]
pub(crate) struct Summary {
    /// The fit
    pub(crate) fit: PathBuf,
    /// The parameters to print [default: all]
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameters: Vec<String>,
    /// The format of the table
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Print every value of long tensors
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc check fit.sgmcmc || echo 'run longer'")]
pub(crate) struct Check {
    /// The fit
    pub(crate) fit: PathBuf,
    /// Print nothing; only set the exit code
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc report fit.zarr --output fit.html --title 'Logistic regression'")]
pub(crate) struct Report {
    /// The fit
    pub(crate) fit: PathBuf,
    /// The output file [default: the name of the fit with the extension .html]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// The title of the page [default: the name of the fit]
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// The largest number of parameters with plots; selects those with the worst R-hat and ESS
    #[arg(long, default_value_t = 100, value_name = "COUNT")]
    pub(crate) limit: usize,
}

#[derive(Args, Debug)]
#[command(after_help = convert_help())]
pub(crate) struct Convert {
    /// The fit
    pub(crate) fit: PathBuf,
    /// The output; its extension gives the format
    pub(crate) output: PathBuf,
    /// Replace an existing fit
    #[arg(long, short)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc info fit.sgmcmc")]
pub(crate) struct Info {
    /// The fit
    pub(crate) fit: PathBuf,
}
