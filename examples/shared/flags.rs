//! `--name value` flags of the examples, with `--help`, and `--quiet` for those who do not want to see how far they are.

use std::fmt::Display;
use std::str::FromStr;

use sgmcmc::progress;
use sgmcmc::run::Watch;

/// The flags of a program: what was given, and what was asked for so far.
pub struct Flags {
    about: &'static str,
    help: String,
    given: Vec<(String, String)>,
    help_wanted: bool,
    quiet: bool,
}

impl Flags {
    /// Reads the command line of a program that is `about` something.
    pub fn read(about: &'static str) -> Result<Self, String> {
        let mut flags = Self { about, help: String::new(), given: Vec::new(), help_wanted: false, quiet: false };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.strip_prefix("--") {
                Some("help") => flags.help_wanted = true,
                Some("quiet") => flags.quiet = true,
                Some(name) => {
                    let value = arguments.next().ok_or_else(|| format!("`--{name}` needs a value"))?;
                    flags.given.push((name.into(), value));
                }
                None => return Err(format!("`{argument}` is not a flag; see --help")),
            }
        }
        Ok(flags)
    }

    /// The value of `--name`, or `default`.
    pub fn get<T: FromStr + Display>(&mut self, name: &str, default: T, purpose: &str) -> Result<T, String> {
        self.help += &format!("  --{name:<12} {purpose} [{default}]\n");
        match self.given.iter().position(|(given, _)| given == name) {
            None => Ok(default),
            Some(place) => {
                let (_, value) = self.given.remove(place);
                value.parse().map_err(|_| format!("`{value}` is not a value for --{name}; see --help"))
            }
        }
    }

    /// Ends the reading: prints the help if it was wanted, and refuses flags nobody asked for. Returns how a run is to be watched.
    pub fn finish(self) -> Result<Watch, String> {
        if self.help_wanted {
            println!("{}\n\n{}  --{:<12} show no progress", self.about, self.help, "quiet");
            std::process::exit(0);
        }
        match self.given.first() {
            Some((name, _)) => Err(format!("there is no flag --{name}; see --help")),
            None if self.quiet => Ok(Watch::Off),
            None => Ok(progress::auto()),
        }
    }
}
