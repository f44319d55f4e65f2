//! `--name value` flags of the examples, with `--help` and `--quiet`.

use std::fmt::Display;
use std::str::FromStr;

use sgmcmc::progress;
use sgmcmc::run::ProgressOption;

/// The flags of a program. A wrong command line ends the program with a message.
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
    /// Reads the command line; `about` is the first line of the help.
    pub fn new(about: &'static str) -> Self {
        let mut flags = Self { about, help: String::new(), given: Vec::new(), show_help: false, quiet: false };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                Some("help") => flags.show_help = true,
                Some("quiet") => flags.quiet = true,
                Some(name) => {
                    let value = arguments.next().unwrap_or_else(|| exit(&format!("`--{name}` needs a value")));
                    flags.given.push((name.into(), value));
                }
                None => exit(&format!("`{argument}` is not a flag; see --help")),
            }
        }
        flags
    }

    /// Returns the value of `--name`, or `default`.
    pub fn get<T: FromStr + Display>(&mut self, name: &str, default: T, purpose: &str) -> T {
        self.help += &format!("  --{name:<12} {purpose} [{default}]\n");
        match self.given.iter().position(|(given, _)| given == name) {
            None => default,
            Some(index) => {
                let (_, value) = self.given.remove(index);
                value.parse().unwrap_or_else(|_| exit(&format!("`{value}` is not a value for --{name}; see --help")))
            }
        }
    }

    /// Returns how progress is shown. Prints the help and exits if `--help` was given. Rejects flags that were not
    /// read.
    pub fn finish(self) -> ProgressOption {
        if self.show_help {
            println!("{}\n\n{}  --{:<12} show no progress", self.about, self.help, "quiet");
            std::process::exit(0);
        }
        match self.given.first() {
            Some((name, _)) => exit(&format!("there is no flag --{name}; see --help")),
            None if self.quiet => ProgressOption::Off,
            None => progress::auto(),
        }
    }
}

/// Prints a message and ends the program with the exit code of a wrong command line.
fn exit(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(2)
}
