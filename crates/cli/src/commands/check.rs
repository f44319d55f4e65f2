//! `sgmcmc check`: findings and an exit code.

use std::process::ExitCode;

use clap::Args;
use sgmcmc_fit::Thresholds;

use super::print::{print, print_complete};
use super::source::FitAndParameters;
use crate::error::Error;

/// The exit code of a check that found problems.
const PROBLEMS: u8 = 1;

const HELP: &str = "\
Examples:
  sgmcmc check fit.sgmcmc || echo 'run longer'
  sgmcmc check fit.sgmcmc beta --ess-per-chain 400         a stricter check of `beta`
  sgmcmc check fit.sgmcmc --json | jq .passed";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: FitAndParameters,
    /// Print nothing; only set the exit code
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    /// Print the findings as JSON: {"passed": …, "findings": [{"severity", "what", "remedy", "parameters"}, …]}
    #[arg(long)]
    json: bool,
    /// The largest accepted R-hat
    #[arg(long, default_value_t = Thresholds::default().r_hat, value_name = "NUMBER")]
    r_hat: f64,
    /// The smallest accepted effective sample size per chain, of bulk and tails
    #[arg(long, default_value_t = Thresholds::default().ess_per_chain, value_name = "NUMBER")]
    ess_per_chain: f64,
    /// The largest accepted Monte Carlo error of a mean, as a share of the standard deviation
    #[arg(long, default_value_t = Thresholds::default().mcse_share, value_name = "SHARE")]
    mcse_share: f64,
    /// The smallest accepted number of draws per chain
    #[arg(long, default_value_t = Thresholds::default().draws, value_name = "COUNT")]
    draws: usize,
    /// The largest accepted ratio of the variance of the gradient noise to that of the injected noise
    #[arg(long, default_value_t = Thresholds::default().noise_ratio, value_name = "NUMBER")]
    noise_ratio: f64,
    /// The largest accepted relative error of a standard deviation
    #[arg(long, default_value_t = Thresholds::default().bias, value_name = "SHARE")]
    bias: f64,
    /// The smallest accepted share of accepted proposals
    #[arg(long, default_value_t = Thresholds::default().acceptance, value_name = "SHARE")]
    acceptance: f64,
}

/// Prints the findings of the check.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { r_hat, ess_per_chain, mcse_share, draws, noise_ratio, bias, acceptance, .. } = *arguments;
    let thresholds = Thresholds { r_hat, ess_per_chain, mcse_share, draws, noise_ratio, bias, acceptance };
    let check = arguments.source.read()?.check_with(&thresholds);
    let code = if check.passed() { ExitCode::SUCCESS } else { ExitCode::from(PROBLEMS) };
    if arguments.json {
        print_complete(&check.to_json())?;
    } else if !arguments.quiet {
        match print(&check.to_string()) {
            // A closed pipe does not change the result of the check.
            Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            other => _ = other?,
        }
    }
    Ok(code)
}
