//! The command-line arguments.

use clap::Parser;
use sgmcmc_storage::fits;

use crate::commands::Command;

/// Returns the text below the list of commands.
fn help() -> String {
    let list =
        |format: fits::Format| format!("  .{:<8} {}: {}", format.extension(), format.name(), format.description());
    let formats: Vec<String> = fits::formats().map(list).collect();
    format!("{EXAMPLES}\n{}\n\n{EXIT_CODES}", formats.join("\n"))
}

const EXAMPLES: &str = "\
Examples:
  sgmcmc summary fit.sgmcmc                       print a table of all parameters
  sgmcmc summary fit.zarr beta --format csv       print `beta` only, for a spreadsheet
  sgmcmc check fit.sgmcmc && publish              exit with code 1 if the fit has problems
  sgmcmc report fit.sgmcmc                        write fit.html, a page with all plots
  sgmcmc watch checkpoints                        look at a run under way
  sgmcmc convert fit.sgmcmc fit.zarr              write the fit for Python: arviz.from_zarr(\"fit.zarr\") (ArviZ 1.x)
  sgmcmc combine shard*.zarr --output fit.sgmcmc  combine the fits of all shards of a data set
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

/// Summarizes, checks, plots, converts and combines saved fits.
#[derive(Debug, Parser)]
#[command(name = "sgmcmc", version, about, after_help = help(), arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}
