//! `sgmcmc`: a look at saved fits from the command line.
//!
//! Exit codes: 0 fine, 1 `check` found problems, 2 wrong usage or a file that cannot be read or written.

mod arguments;
mod commands;
mod error;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use error::Error;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(&arguments.command) {
        Ok(code) => code,
        // Who reads the output has seen enough, as `head` does.
        Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Where the message cannot be written there is nothing left to say.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}
