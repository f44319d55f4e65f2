//! The columns of a summary, computed from the draws.

use rayon::prelude::*;
use sgmcmc_diagnostics::{Description, highest_density, quantiles};

use super::options::{IntervalKind, SummaryOptions, percent};
use crate::Fit;

/// The kind of the numbers of a column, which determines how they are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// A number on the scale of the parameter.
    Location,
    /// An effective sample size.
    Size,
    /// R-hat.
    RHat,
    /// A Monte Carlo standard error.
    Error,
    /// A rate per second.
    Rate,
}

/// A column of a summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: ColumnKind,
    /// One number per row.
    pub(super) numbers: Vec<f64>,
}

/// Returns the columns of the rows `rows`, which are the descriptions of the values `indices`.
pub(super) fn columns(fit: &Fit, rows: &[Description], indices: &[usize], options: &SummaryOptions) -> Vec<Column> {
    let of = |name: &str, kind, number: fn(&Description) -> f64| Column {
        name: name.to_owned(),
        kind,
        numbers: rows.iter().map(number).collect(),
    };
    let mut columns =
        vec![of("mean", ColumnKind::Location, |row| row.mean), of("sd", ColumnKind::Location, |row| row.sd)];
    columns.extend(locations(fit, rows, indices, options));
    columns.push(of("ess_bulk", ColumnKind::Size, |row| row.ess_bulk));
    columns.push(of("ess_tail", ColumnKind::Size, |row| row.ess_tail));
    if options.ess_per_second {
        let seconds: f64 = fit.info.seconds.iter().sum();
        let rate = |row: &Description| if seconds > 0.0 { row.ess_bulk / seconds } else { f64::NAN };
        columns.push(Column {
            name: "ess_per_second".to_owned(),
            kind: ColumnKind::Rate,
            numbers: rows.iter().map(rate).collect(),
        });
    }
    columns.push(of("r_hat", ColumnKind::RHat, |row| row.r_hat));
    columns.push(of("mcse_mean", ColumnKind::Error, |row| row.mcse_mean));
    columns.push(of("mcse_sd", ColumnKind::Error, |row| row.mcse_sd));
    columns
}

/// Returns the columns of the median, the quantiles and the interval.
fn locations(fit: &Fit, rows: &[Description], indices: &[usize], options: &SummaryOptions) -> Vec<Column> {
    let default = SummaryOptions::default();
    let is_default =
        options.interval == default.interval && options.probability.to_bits() == default.probability.to_bits();
    let mut names: Vec<String> = Vec::new();
    let mut probabilities = Vec::new();
    if options.median {
        names.push("median".to_owned());
        probabilities.push(0.5);
    }
    names.extend(options.quantiles.iter().map(|p| format!("q{}", percent(*p))));
    probabilities.extend(&options.quantiles);
    let tail = (1.0 - options.probability) / 2.0;
    let equal_tailed = options.interval == IntervalKind::EqualTailed;
    if equal_tailed && !is_default {
        probabilities.extend([tail, 1.0 - tail]);
    }
    let interval = options.interval_name();
    names.extend([format!("{interval}_lb"), format!("{interval}_ub")]);
    let weights: Vec<f64> = if fit.is_weighted() {
        fit.chains.iter().flat_map(|chain| chain.weights()).copied().collect()
    } else {
        Vec::new()
    };
    let numbers = |(row, index): (&Description, &usize)| -> Vec<f64> {
        let mut found = Vec::new();
        if !probabilities.is_empty() || !equal_tailed {
            let draws: Vec<f64> = fit.chains.iter().flat_map(|chain| chain.element(*index)).collect();
            if !probabilities.is_empty() {
                let equal = vec![1.0; if weights.is_empty() { draws.len() } else { 0 }];
                found = quantiles(&draws, if weights.is_empty() { &equal } else { &weights }, &probabilities);
            }
            if !equal_tailed {
                let interval = highest_density(&draws, &weights, options.probability);
                found.extend([interval.lower, interval.upper]);
            }
        }
        if is_default {
            found.extend([row.eti89_lb, row.eti89_ub]);
        }
        found
    };
    let table: Vec<Vec<f64>> = rows.par_iter().zip(indices).map(numbers).collect();
    let column = |(position, name)| Column {
        name,
        kind: ColumnKind::Location,
        numbers: table.iter().map(|row| row[position]).collect(),
    };
    names.into_iter().enumerate().map(column).collect()
}
