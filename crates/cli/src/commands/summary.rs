//! `sgmcmc summary`: a table of the posterior.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use sgmcmc_storage::fits;

use super::print::{print, print_complete};
use crate::error::Error;

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
pub(crate) struct Arguments {
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

/// Prints the summary table.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let mut fit = fits::open(&arguments.fit)?;
    if !arguments.parameters.is_empty() {
        let names: Vec<&str> = arguments.parameters.iter().map(String::as_str).collect();
        fit = fit.only(&names).map_err(|source| Error::Parameter { path: arguments.fit.clone(), source })?;
    }
    let summary = fit.summary();
    let text = match arguments.format {
        Format::Table if arguments.all => summary.unfolded().to_string(),
        Format::Table => summary.to_string(),
        Format::Csv => summary.to_csv(),
        Format::Json => summary.to_json(),
        Format::Markdown => summary.to_markdown(),
    };
    match arguments.format {
        // The format has its own escapes. A truncated table must not pass as a complete one.
        Format::Csv | Format::Json => print_complete(&text),
        Format::Table | Format::Markdown => print(&text),
    }
}
