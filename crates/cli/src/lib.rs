//! The program `sgmcmc`: a look at saved fits from the command line.
//!
//! Exit codes: 0 fine, 1 `check` found problems, 2 wrong usage or a file that cannot be read or written, 141 the reader of a table in
//! CSV or JSON left before its end. A reader that leaves while a text for people is printed, as `head` does, is no error.

mod arguments;
mod commands;
mod error;
mod target;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use sgmcmc_core::text::printable_lines;

use arguments::Arguments;
use error::Error;

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(&arguments.command) {
        Ok(code) => code,
        // Who reads the output has seen enough, as `head` does.
        Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        // As a shell reports a program that was ended by SIGPIPE.
        Err(Error::CutShort) => ExitCode::from(141),
        Err(error) => {
            // Where the message cannot be written there is nothing left to say.
            let _ = writeln!(std::io::stderr(), "error: {}", printable_lines(&error.to_string()));
            ExitCode::from(2)
        }
    }
}

/// Parses arguments without running anything, for tests.
///
/// # Errors
///
/// Returns the message of wrong arguments.
#[doc(hidden)]
pub fn parse<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> Result<(), String> {
    Arguments::try_parse_from(arguments).map(|_| ()).map_err(|error| error.to_string())
}
