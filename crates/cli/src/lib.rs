//! The command-line program `sgmcmc`: summaries, checks, reports, conversions and combinations of saved fits.
//!
//! Exit codes: 0 for success, 1 if `check` found problems, 2 for invalid arguments or a file that cannot be read or
//! written (also if standard output is closed), 141 if the reader of CSV or JSON output closed the pipe before the end.
//! For text output, a closed pipe (for instance by `head`) is not an error.

mod arguments;
mod closed;
mod commands;
mod error;
mod output;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use sgmcmc_gradient::text::printable_lines;

use arguments::Arguments;
use error::Error;

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(&arguments.command, Arguments::command()) {
        Ok(code) => code,
        // The reader closed the pipe (for instance `head`). This is not an error.
        Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        // The exit code that shells report for SIGPIPE.
        Err(Error::Truncated) => ExitCode::from(141),
        Err(error) => {
            // An error of standard error cannot be reported.
            let _ = writeln!(std::io::stderr(), "error: {}", printable_lines(&error.to_string()));
            ExitCode::from(2)
        }
    }
}

/// Parses arguments without running a command, for tests.
///
/// # Errors
///
/// Returns the error message of invalid arguments.
#[doc(hidden)]
pub fn parse<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> Result<(), String> {
    Arguments::try_parse_from(arguments).map(|_| ()).map_err(|error| error.to_string())
}
