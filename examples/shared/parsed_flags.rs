//! `--name value` flags with `--help` and `--quiet`, for the examples and for the paper replications of `crates/lab`.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use sgmcmc::progress;
use sgmcmc::run::ProgressOption;

/// The flags of a command line. Mistakes in it are errors.
pub struct Flags {
    about: &'static str,
    /// The help text of the flags that have been read.
    help: String,
    /// The names and values on the command line that have not been read.
    given: Vec<(String, String)>,
    show_help: bool,
    quiet: bool,
}

impl Flags {
    /// Parses the arguments; `about` is the first line of the help.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument is not a flag or a value is missing.
    pub fn parse(arguments: &[String], about: &'static str) -> Result<Self, String> {
        let mut flags = Self { about, help: String::new(), given: Vec::new(), show_help: false, quiet: false };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                Some("help") => flags.show_help = true,
                Some("quiet") => flags.quiet = true,
                Some(name) => {
                    let value = arguments.next().ok_or_else(|| format!("`--{name}` needs a value"))?;
                    flags.given.push((name.into(), value.clone()));
                }
                None => return Err(format!("`{argument}` is not a flag; see --help")),
            }
        }
        Ok(flags)
    }

    /// Returns the value of `--name`, or `default`.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be parsed.
    pub fn get<T: FromStr + Display>(&mut self, name: &str, default: T, purpose: &str) -> Result<T, String> {
        self.help += &match default.to_string() {
            none if none.is_empty() => format!("  --{name:<15} {purpose}\n"),
            default => format!("  --{name:<15} {purpose} [{default}]\n"),
        };
        match self.given.iter().position(|(given, _)| given == name) {
            None => Ok(default),
            Some(index) => {
                let (_, value) = self.given.remove(index);
                value.parse().map_err(|_| format!("`{value}` is not a value for --{name}; see --help"))
            }
        }
    }

    /// Returns the progress option of the runs. Prints the help and exits if `--help` was given.
    ///
    /// # Errors
    ///
    /// Returns an error if the command line has a flag that the command does not read.
    pub fn finish(self) -> Result<ProgressOption, String> {
        if self.show_help {
            println!(
                "{}\n\nusage: {} [--FLAG VALUE]... [--quiet] [--help]\n\nflags:\n{}  --{:<15} show no progress",
                self.about,
                program(),
                self.help,
                "quiet"
            );
            std::process::exit(0);
        }
        match self.given.first() {
            Some((name, _)) => Err(format!("there is no flag --{name}; see --help")),
            None if self.quiet => Ok(ProgressOption::Off),
            None => Ok(progress::auto()),
        }
    }
}

/// Returns the name of the program, followed by that of its command if it has commands.
fn program() -> String {
    let mut arguments = std::env::args();
    let path = arguments.next().unwrap_or_default();
    let name = Path::new(&path).file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let command = arguments.next().filter(|argument| !argument.starts_with("--"));
    [Some(name), command].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
