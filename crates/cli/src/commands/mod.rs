//! The commands, one per file: the arguments of each and the function that runs it.

mod check;
mod combine;
mod compare;
mod completions;
mod convert;
mod diff;
mod info;
mod plot;
mod predict;
mod print;
mod report;
mod source;
mod summary;
mod watch;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::Error;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print a table of means, quantiles, intervals, ESS, R-hat and Monte Carlo errors
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
    /// Draw one plot, as an SVG file or in the terminal
    Plot(plot::Arguments),
    /// Show a run under way: chains, worst values, trace and effective sample size
    Watch(watch::Arguments),
    /// Compare models by leave-one-out cross-validation or WAIC; needs log-likelihoods in the fits
    Compare(compare::Arguments),
    /// Compare two fits: the same draws? the same posterior within Monte Carlo error?
    Diff(diff::Arguments),
    /// Print a table of predictive draws, with observed values and coverage
    Predict(predict::Arguments),
    /// Print the completions of a shell
    Completions(completions::Completions),
    /// Write manual pages
    Man(completions::Man),
}

/// Runs a command and returns the exit code. `program` is the definition of all commands.
pub(crate) fn run(command: &Command, program: clap::Command) -> Result<ExitCode, Error> {
    match command {
        Command::Summary(arguments) => summary::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Combine(arguments) => combine::run(arguments),
        Command::Info(arguments) => info::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Watch(arguments) => watch::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Completions(arguments) => completions::completions(arguments, program),
        Command::Man(arguments) => completions::man(arguments, program),
    }
}
