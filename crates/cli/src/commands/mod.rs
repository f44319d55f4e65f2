//! The commands, one per file: the arguments of each and the function that runs it.

mod check;
mod combine;
mod convert;
mod info;
mod print;
mod report;
mod summary;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::Error;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print a table of mean, sd, 89 % interval, ESS, R-hat and Monte Carlo errors of every parameter
    Summary(summary::Arguments),
    /// Check whether the fit can be trusted; print findings and remedies; exit with code 1 if there are problems
    Check(check::Arguments),
    /// Write a self-contained HTML page with verdict, table and plots
    Report(report::Arguments),
    /// Write the fit in another format, given by the extension of OUTPUT
    Convert(convert::Arguments),
    /// Combine the fits of all shards of a data set into a fit of the posterior
    Combine(combine::Arguments),
    /// Print the names and shapes of the parameters, the chains, the settings of the run, and the decisions of automatic tuning
    Info(info::Arguments),
}

/// Runs a command and returns the exit code.
pub(crate) fn run(command: &Command) -> Result<ExitCode, Error> {
    match command {
        Command::Summary(arguments) => summary::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Combine(arguments) => combine::run(arguments),
        Command::Info(arguments) => info::run(arguments),
    }
}
