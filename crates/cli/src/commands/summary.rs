//! `sgmcmc summary`: a table of the posterior.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use sgmcmc_fit::{IntervalKind, SummaryOptions, SummaryOrder};

use super::print::{print, print_complete};
use super::source::FitAndParameters;
use crate::error::Error;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns; long tensors are folded
    Table,
    /// Comma-separated values with all digits
    Csv,
    /// JSON with all digits
    Json,
    /// A Markdown table
    Markdown,
}

/// The kind of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Interval {
    /// Equal-tailed
    Eti,
    /// Highest density, the shortest interval
    Hdi,
}

/// The order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Largest R-hat first
    #[value(name = "r_hat")]
    RHat,
    /// Smallest ESS of the bulk first
    #[value(name = "ess_bulk", alias = "ess")]
    EssBulk,
    /// Smallest ESS of the tails first
    #[value(name = "ess_tail")]
    EssTail,
    /// Largest Monte Carlo error relative to the sd first
    Mcse,
    /// Largest mean first
    Mean,
    /// Largest sd first
    Sd,
    /// By name
    Name,
}

const HELP: &str = "\
ess_tail is the smaller effective sample size of the quantiles at 11 % and 89 %, as in ArviZ 1.x (Stan: 5 % and 95 %).

Examples:
  sgmcmc summary fit.sgmcmc beta sigma --format markdown
  sgmcmc summary fit.sgmcmc --sort r_hat --top 10          the ten worst parameters
  sgmcmc summary fit.sgmcmc 'beta[0]' 'W[*,2]' '~W[0,2]'   elements, patterns and exclusions
  sgmcmc summary chain-*.csv --skip 500 --median           several files as chains of one fit";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: FitAndParameters,
    /// The format of the table
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print every value of long tensors
    #[arg(long)]
    all: bool,
    /// The kind of the interval
    #[arg(long, value_enum, default_value_t = Interval::Eti)]
    interval: Interval,
    /// The probability of the interval
    #[arg(long, default_value_t = 0.89, value_name = "PROBABILITY")]
    width: f64,
    /// Add a column with the median
    #[arg(long)]
    median: bool,
    /// Add columns with these quantiles, such as 0.05,0.5,0.95
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    quantiles: Vec<f64>,
    /// The number of significant digits [default: 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(1..=17))]
    digits: Option<u8>,
    /// Sort the rows
    #[arg(long, value_enum, value_name = "COLUMN")]
    sort: Option<Sort>,
    /// Print the first COUNT rows only
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
    /// Add a column with the effective sample size per second of the run time of all chains
    #[arg(long)]
    rate: bool,
}

/// Prints the summary table.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let fit = arguments.source.read()?;
    let options = options(arguments);
    let summary = fit
        .summary_with(&options)
        .map_err(|source| Error::Parameter { path: arguments.source.path().to_owned(), source })?;
    let text = match arguments.format {
        Format::Table if arguments.all => summary.unfolded().to_string(),
        Format::Table => summary.to_string(),
        Format::Csv => summary.to_csv(),
        Format::Json => summary.to_json(),
        Format::Markdown => summary.to_markdown(),
    };
    match arguments.format {
        // The format has its own escapes. A truncated table must not pass as a complete one.
        Format::Csv | Format::Json => print_complete(&text),
        Format::Table | Format::Markdown => print(&text),
    }
}

/// Returns the options of the summary.
fn options(arguments: &Arguments) -> SummaryOptions {
    SummaryOptions {
        interval: match arguments.interval {
            Interval::Eti => IntervalKind::EqualTailed,
            Interval::Hdi => IntervalKind::HighestDensity,
        },
        probability: arguments.width,
        median: arguments.median,
        quantiles: arguments.quantiles.clone(),
        digits: arguments.digits.map(usize::from),
        order: match arguments.sort {
            None => SummaryOrder::Declared,
            Some(Sort::RHat) => SummaryOrder::RHat,
            Some(Sort::EssBulk) => SummaryOrder::EssBulk,
            Some(Sort::EssTail) => SummaryOrder::EssTail,
            Some(Sort::Mcse) => SummaryOrder::MonteCarloError,
            Some(Sort::Mean) => SummaryOrder::Mean,
            Some(Sort::Sd) => SummaryOrder::StandardDeviation,
            Some(Sort::Name) => SummaryOrder::Name,
        },
        top: arguments.top,
        ess_per_second: arguments.rate,
    }
}
