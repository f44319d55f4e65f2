//! The command line of the examples. A mistake in it ends the program with a message.

#[path = "parsed_flags.rs"]
mod parsed_flags;

use std::fmt::Display;
use std::str::FromStr;

use sgmcmc::run::ProgressOption;

/// The `--name value` flags of a program, with `--help` and `--quiet`.
pub struct Flags(parsed_flags::Flags);

impl Flags {
    /// Reads the command line; `about` is the first line of the help.
    pub fn new(about: &'static str) -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        Self(or_exit(parsed_flags::Flags::parse(&arguments, about)))
    }

    /// Returns the value of `--name`, or `default`.
    pub fn get<T: FromStr + Display>(&mut self, name: &str, default: T, purpose: &str) -> T {
        or_exit(self.0.get(name, default, purpose))
    }

    /// Returns how progress is shown. Prints the help and exits if `--help` was given. Rejects flags that were not
    /// read.
    pub fn finish(self) -> ProgressOption {
        or_exit(self.0.finish())
    }
}

/// Returns the value, or prints the message and ends the program with the exit code of a wrong command line.
fn or_exit<T>(parsed: Result<T, String>) -> T {
    parsed.unwrap_or_else(|message| {
        eprintln!("{message}");
        std::process::exit(2)
    })
}
