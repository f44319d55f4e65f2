//! `sgmcmc diff`: the differences of two fits.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::print::print;
use super::source::Part;
use crate::error::Error;

/// The exit code of fits that differ.
const DIFFERENT: u8 = 1;

const HELP: &str = "\
The exit code is 0 if the draws are the same or the posteriors agree within Monte Carlo error, and 1 otherwise. Two fits
of one posterior are reported to differ with a probability of at most 1 %.

Example: sgmcmc diff yesterday.sgmcmc today.sgmcmc";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The first fit
    first: PathBuf,
    /// The second fit
    second: PathBuf,
    /// Compare these parameters only: names, elements, patterns and exclusions
    #[arg(value_name = "PARAMETER")]
    parameters: Vec<String>,
    #[command(flatten)]
    part: Part,
    /// Require the same draws, bit for bit
    #[arg(long)]
    exact: bool,
}

/// Prints the differences.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let read = |path: &PathBuf| {
        let fit = arguments.part.open(path)?;
        if arguments.parameters.is_empty() {
            return Ok(fit);
        }
        fit.select(&arguments.parameters).map_err(|source| Error::Parameter { path: path.clone(), source })
    };
    let difference = read(&arguments.first)?.difference(&read(&arguments.second)?);
    let same = if arguments.exact {
        difference.same_draws && difference.unmatched.iter().all(Vec::is_empty)
    } else {
        difference.agrees()
    };
    match print(&difference.to_string()) {
        // A closed pipe does not change the result.
        Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        other => _ = other?,
    }
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) })
}
