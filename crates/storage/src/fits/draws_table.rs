//! Tables with one row per draw: the columns of Parquet and Arrow files.

use std::collections::BTreeMap;
use std::path::Path;

use sgmcmc_fit::Fit;
use sgmcmc_fit::sink::Draw;

use super::extra::Extra;
use super::table::{self, Planned, unique};
use crate::error::{Problem, Result};

/// The key of the metadata of this library.
pub(super) const OWN: &str = "sgmcmc";

/// The columns before the sample statistics and the values.
pub(super) const FIRST: [&str; 5] = ["chain", "draw", "iteration", "weight", "lp"];

/// The number of columns of integers, which come first.
pub(super) const INTEGERS: usize = 3;

/// Returns the names of all columns of a table with this metadata.
pub(super) fn column_names(extra: &Extra) -> Vec<String> {
    let elements = extra.layout.value_names();
    let named = unique(extra.stats.iter().chain(&elements).map(String::as_str), &FIRST);
    FIRST.into_iter().map(str::to_owned).chain(named).collect()
}

/// The pending rows, stored by column.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) chains: Vec<i64>,
    pub(super) draws: Vec<i64>,
    pub(super) iterations: Vec<i64>,
    /// The weight, the log posterior, the sample statistics and the values.
    pub(super) numbers: Vec<Vec<f64>>,
}

impl Rows {
    pub(super) fn new(numbers: usize) -> Self {
        Self { numbers: vec![Vec::new(); 2 + numbers], ..Self::default() }
    }

    /// Appends draw number `number` of a chain.
    pub(super) fn push(&mut self, chain: usize, number: usize, draw: &Draw<'_>) {
        self.chains.push(chain as i64);
        self.draws.push(number as i64);
        self.iterations.push(draw.iteration as i64);
        let first = [draw.weight, draw.log_posterior];
        let row = first.iter().chain(draw.stats).chain(draw.values);
        self.numbers.iter_mut().zip(row).for_each(|(column, number)| column.push(*number));
    }

    pub(super) fn len(&self) -> usize {
        self.chains.len()
    }
}

/// The columns of a table that was read.
#[derive(Default)]
pub(super) struct DrawsTable {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) extra: Option<Extra>,
    pub(super) planned: Planned,
}

impl DrawsTable {
    /// Appends the rows of another part of the table.
    ///
    /// # Errors
    ///
    /// Returns an error if the part has other columns.
    pub(super) fn append(&mut self, part: Self) -> Result<(), Problem> {
        if self.names.is_empty() {
            *self = part;
        } else if self.names == part.names {
            self.columns.iter_mut().zip(part.columns).for_each(|(all, part)| all.extend(part));
        } else {
            return Err(Problem::Corrupt { detail: "its columns are not those of the other parts".into() });
        }
        Ok(())
    }

    /// Checks that all columns have the same length.
    ///
    /// # Errors
    ///
    /// Returns an error if they do not.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let rows = self.columns.first().map_or(0, Vec::len);
        match self.columns.iter().all(|column| column.len() == rows) {
            true => Ok(()),
            false => Err(Problem::Corrupt { detail: "its columns have different lengths".into() }),
        }
    }

    /// Converts the table to a fit.
    ///
    /// # Errors
    ///
    /// Returns an error if the table has no draws, or if two columns have the same name.
    pub(super) fn into_fit(self, path: &Path) -> Result<Fit> {
        let Self { names, columns, extra, planned } = self;
        let first = FIRST.map(|first| names.iter().position(|name| name == first));
        let own = extra.filter(|extra| {
            first.iter().enumerate().all(|(position, found)| *found == Some(position))
                && names.len() == FIRST.len() + extra.stats.len() + extra.layout.value_count()
        });
        // The tables of this library have a known order of columns. Other tables have known names.
        let (layout, stats, order) = match &own {
            Some(extra) => {
                let values = FIRST.len() + extra.stats.len();
                (extra.layout.clone(), extra.stats.clone(), (values..names.len()).collect::<Vec<_>>())
            }
            None => {
                let others: Vec<(usize, &str)> = names
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| !first.contains(&Some(*i)))
                    .map(|(i, n)| (i, n.as_str()))
                    .collect();
                let (layout, order) = table::layout_of_columns(path, table::group(&others, false))?;
                (layout, Vec::new(), order)
            }
        };
        // The rows of each chain, in the order of its draws.
        let mut chains: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let rows = 0..columns.first().map_or(0, Vec::len);
        let number = |row: usize| first[0].map_or(0, |column| columns[column][row] as u64);
        rows.for_each(|row| chains.entry(number(row)).or_default().push(row));
        if let Some(draw) = first[1] {
            chains.values_mut().for_each(|rows| rows.sort_by(|a, b| columns[draw][*a].total_cmp(&columns[draw][*b])));
        }
        let take = |rows: &[usize], column: usize| rows.iter().map(|row| columns[column][*row]).collect::<Vec<f64>>();
        let chains = chains.iter().map(|(number, rows)| {
            let whole = |column| take(rows, column).into_iter().map(|number| number as u64).collect();
            table::Chain {
                number: *number as usize,
                draws: rows.len(),
                iterations: first[2].map(whole),
                weights: first[3].map(|column| take(rows, column)),
                log_posterior: first[4].map(|column| take(rows, column)),
                stats: stats.iter().cloned().zip((FIRST.len()..).map(|column| take(rows, column))).collect(),
                values: order.iter().map(|column| take(rows, *column)).collect(),
            }
        });
        let fit = table::fit(path, layout, chains.collect(), &planned)?;
        match own {
            Some(extra) => extra.apply_to(path, fit),
            None => Ok(fit),
        }
    }
}
