//! Standard output.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use sgmcmc_gradient::text::printable_lines;

use crate::closed::stdout;
use crate::error::Error;

/// Prints a text for humans. Control characters in names and paths are escaped.
pub(super) fn print(text: &str) -> Result<ExitCode, Error> {
    write_out(&printable_lines(text)).map_err(Error::Output)
}

/// Prints the stage of a long computation to standard error, if it is a terminal.
pub(super) fn note(text: &str) {
    if std::io::stderr().is_terminal() {
        // An error of standard error cannot be reported.
        let _ = writeln!(std::io::stderr(), "{}", printable_lines(text));
    }
}

/// Prints a warning to standard error.
pub(super) fn warn(text: &str) {
    // An error of standard error cannot be reported.
    let _ = writeln!(std::io::stderr(), "warning: {text}");
}

/// Prints a text for programs. A closed pipe is an error.
pub(super) fn print_complete(text: &str) -> Result<ExitCode, Error> {
    write_out(text).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Error::Truncated,
        _ => Error::Output(error),
    })
}

/// Writes a text to standard output.
pub(super) fn write_out(text: &str) -> std::io::Result<ExitCode> {
    let mut out = stdout()?;
    writeln!(out, "{}", text.trim_end())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
