//! `sgmcmc predict`: a table of the predictive draws that a fit carries.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sgmcmc_diagnostics::{describe_weighted, quantiles};
use sgmcmc_fit::{Fit, Variable, count};
use sgmcmc_gradient::text::{csv_cell, printable, printable_json};

use super::print::{print, print_complete};
use super::source::Part;
use super::summary::Format;
use crate::error::Error;

/// The number of rows of a table, unless all are requested.
const ROWS: usize = 20;

const HELP: &str = "\
The fit needs predictive draws: `fit.with_posterior_predictive(name, …)` adds them. If it has observed data of the same
name, the table has the observed value and pit, the share of draws below it.

Example: sgmcmc predict fit.sgmcmc --width 0.5 --format csv";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The fit
    fit: PathBuf,
    /// The predicted variable [default: the only one]
    variable: Option<String>,
    #[command(flatten)]
    part: Part,
    /// The group of arrays
    #[arg(long, default_value = "posterior_predictive", value_name = "NAME")]
    group: String,
    /// The probability of the interval
    #[arg(long, default_value_t = 0.89, value_name = "PROBABILITY")]
    width: f64,
    /// The format of the table
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print every row of the table
    #[arg(long)]
    all: bool,
}

/// A row of the table.
struct Row {
    name: String,
    mean: f64,
    sd: f64,
    lower: f64,
    upper: f64,
    observed: Option<f64>,
    /// The share of draws below the observed value.
    pit: Option<f64>,
}

/// Prints the predictions.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    if !(arguments.width > 0.0 && arguments.width < 1.0) {
        return Err(Error::Probability(arguments.width));
    }
    let fit = arguments.part.open(&arguments.fit)?;
    let variable = find(&fit, arguments)?;
    let rows = rows(&fit, variable, arguments.width);
    match arguments.format {
        Format::Csv => print_complete(&csv(&rows)),
        Format::Json => print_complete(&json(&rows)),
        Format::Table | Format::Markdown => {
            let shown = if arguments.all { rows.len() } else { rows.len().min(ROWS) };
            print(&table(&rows, shown, arguments))
        }
    }
}

/// Returns the requested variable.
fn find<'f>(fit: &'f Fit, arguments: &Arguments) -> Result<&'f Variable, Error> {
    let missing = |known: &[Variable]| {
        let known: Vec<String> = known.iter().map(|variable| format!("`{}`", variable.name)).collect();
        let (path, group) = (arguments.fit.clone(), arguments.group.clone());
        Error::NoPredictions { path, group, known: known.join(", ") }
    };
    let variables = fit.group(&arguments.group).map_or(&[][..], |group| &group.variables);
    let found = match &arguments.variable {
        Some(name) => variables.iter().find(|variable| variable.name == *name),
        None if variables.len() == 1 => variables.first(),
        None => None,
    };
    found.filter(|variable| variable.has_draws()).ok_or_else(|| missing(variables))
}

/// Returns one row per predicted value.
fn rows(fit: &Fit, variable: &Variable, width: f64) -> Vec<Row> {
    let observed = fit.group("observed_data").and_then(|group| group.variable(&variable.name));
    let observed = observed.filter(|observed| observed.values.len() == variable.width());
    let own = fit.chains().len() == variable.shape[0];
    let tail = (1.0 - width) / 2.0;
    let row = |index: usize| {
        let chain = |chain: usize| -> Vec<f64> {
            // Shorter chains are padded.
            let made = if own { fit.chains()[chain].len().min(variable.shape[1]) } else { variable.shape[1] };
            (0..made).filter_map(|draw| variable.row(chain, draw).get(index).copied()).collect()
        };
        let chains: Vec<Vec<f64>> = (0..variable.shape[0]).map(chain).collect();
        let weights: Vec<Vec<f64>> = chains
            .iter()
            .enumerate()
            .map(
                |(number, draws)| {
                    if own { fit.chains()[number].weights()[..draws.len()].to_vec() } else { vec![1.0; draws.len()] }
                },
            )
            .collect();
        let described = describe_weighted(&chains, &weights);
        let (draws, weights) = (chains.concat(), weights.concat());
        let ends = quantiles(&draws, &weights, &[tail, 1.0 - tail]);
        let observed = observed.map(|observed| observed.values[index]);
        let pit = observed.map(|y| {
            let total: f64 = weights.iter().sum();
            // Half of the ties, so that the share of discrete predictions is centered.
            let share = |x: f64| {
                if x < y {
                    1.0
                } else if x > y {
                    0.0
                } else {
                    0.5
                }
            };
            draws.iter().zip(&weights).map(|(x, weight)| weight * share(*x)).sum::<f64>() / total
        });
        let name = element(variable, index);
        Row { name, mean: described.mean, sd: described.sd, lower: ends[0], upper: ends[1], observed, pit }
    };
    (0..variable.width()).map(row).collect()
}

/// Returns the name of an element of a draw, such as `y[3]`.
fn element(variable: &Variable, index: usize) -> String {
    let shape = &variable.shape[2..];
    if shape.is_empty() {
        return variable.name.clone();
    }
    let (mut rest, mut subscripts) = (index, Vec::new());
    for size in shape.iter().rev() {
        subscripts.push((rest % size).to_string());
        rest /= size;
    }
    subscripts.reverse();
    format!("{}[{}]", variable.name, subscripts.join(","))
}

/// Returns the names of the columns.
fn columns(rows: &[Row]) -> Vec<&'static str> {
    let mut names = vec!["mean", "sd", "lower", "upper"];
    if rows.iter().any(|row| row.observed.is_some()) {
        names.extend(["observed", "pit"]);
    }
    names
}

/// Returns the numbers of a row.
fn numbers(row: &Row) -> Vec<f64> {
    [row.mean, row.sd, row.lower, row.upper].into_iter().chain(row.observed).chain(row.pit).collect()
}

/// Returns the first rows as a table, and the coverage of the intervals.
fn table(rows: &[Row], shown: usize, arguments: &Arguments) -> String {
    let markdown = arguments.format == Format::Markdown;
    let names = columns(rows);
    let first = rows[..shown].iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut text = if markdown {
        format!("| | {} |\n|---|{}\n", names.join(" | "), "---:|".repeat(names.len()))
    } else {
        format!("{:first$}{}\n", "", names.iter().map(|name| format!("  {name:>10}")).collect::<String>())
    };
    for row in &rows[..shown] {
        let decimals = if row.sd > 0.0 { (2 - row.sd.log10().floor() as i32).clamp(0, 9) as usize } else { 3 };
        let mut cells: Vec<String> = numbers(row).iter().map(|number| format!("{number:.decimals$}")).collect();
        if let (Some(pit), Some(cell)) = (row.pit, cells.last_mut()) {
            *cell = format!("{pit:.3}");
        }
        let name = printable(&row.name).into_owned();
        text += &if markdown {
            format!("| `{}` | {} |\n", name.replace('|', "\\|"), cells.join(" | "))
        } else {
            format!("{name:<first$}{}\n", cells.iter().map(|cell| format!("  {cell:>10}")).collect::<String>())
        };
    }
    if shown < rows.len() {
        text += &format!("… {} more: print them with --all, or as CSV\n", rows.len() - shown);
    }
    let observed: Vec<&Row> = rows.iter().filter(|row| row.observed.is_some_and(f64::is_finite)).collect();
    if !observed.is_empty() {
        let inside =
            observed.iter().filter(|row| row.observed.is_some_and(|y| row.lower <= y && y <= row.upper)).count();
        text += &format!(
            "the {} % intervals contain {:.1} % of {}\n",
            100.0 * arguments.width,
            100.0 * inside as f64 / observed.len() as f64,
            count(observed.len(), "observed value")
        );
    }
    text
}

/// Returns the rows as CSV.
fn csv(rows: &[Row]) -> String {
    let mut text = format!(",{}\n", columns(rows).join(","));
    for row in rows {
        let numbers: Vec<String> = numbers(row).iter().map(f64::to_string).collect();
        text += &format!("{},{}\n", csv_cell(&printable(&row.name)), numbers.join(","));
    }
    text
}

/// Returns the rows as JSON.
fn json(rows: &[Row]) -> String {
    let names = columns(rows);
    let object = |row: &Row| {
        let numbers = names.iter().map(|name| (*name).to_owned()).zip(numbers(row).into_iter().map(Into::into));
        let name = ("name".to_owned(), serde_json::Value::from(row.name.clone()));
        serde_json::Value::Object(std::iter::once(name).chain(numbers).collect())
    };
    let rows: Vec<serde_json::Value> = rows.iter().map(object).collect();
    // Strings and numbers always serialize.
    printable_json(&serde_json::to_string_pretty(&rows).unwrap_or_default()).into_owned()
}
