//! `sgmcmc check`: findings and an exit code.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sgmcmc_storage::fits;

use super::print::print;
use crate::error::Error;

/// The exit code of a check that found problems.
const PROBLEMS: u8 = 1;

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc check fit.sgmcmc || echo 'run longer'")]
pub(crate) struct Arguments {
    /// The fit
    pub(crate) fit: PathBuf,
    /// Print nothing; only set the exit code
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Prints the findings of the check.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let check = fits::open(&arguments.fit)?.check();
    let code = if check.passed() { ExitCode::SUCCESS } else { ExitCode::from(PROBLEMS) };
    if !arguments.quiet {
        match print(&check.to_string()) {
            // A closed pipe does not change the result of the check.
            Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => _ = other?,
        }
    }
    Ok(code)
}
