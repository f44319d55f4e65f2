//! The reader of Parquet files, for files of this library and tables with the same names of columns.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use sgmcmc_fit::Fit;

use super::{FIRST, OWN};
use crate::error::{Error, FilePosition, Problem, Result};
use crate::fits::directory::files_in;
use crate::fits::extra::Extra;
use crate::fits::table::{self, Planned, fill_gaps};
use crate::limit::{Budget, memory_limit};
use crate::read::parquet::{float_cells, open_column, problem};

/// The concatenated columns of all parts.
#[derive(Default)]
struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    extra: Option<Extra>,
    planned: Planned,
}

/// Reads a file, or all parts in a directory, into one fit.
///
/// In tables of other programs, the columns `chain`, `draw`, `iteration`, `weight` and `lp` have the same meaning and
/// are optional. Every other column is a value.
///
/// # Errors
///
/// Returns an error with file and column if a file is not a Parquet file or damaged, a column does not have numbers, or
/// the parts have different columns.
///
/// # Examples
///
/// See [`write`](super::write).
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut budget = Budget::new(limit);
    let files = if path.is_dir() { files_in(path, "parquet")? } else { vec![path.to_path_buf()] };
    let mut table = Table::default();
    let mut planned = if path.is_dir() { begun_in(path)? } else { Planned::new() };
    for file in &files {
        // The `parquet` crate may panic on a damaged file. The panic is converted to an error.
        let read = catch_unwind(AssertUnwindSafe(|| read_file(file, &mut budget)));
        let part = read.unwrap_or_else(|_| {
            Err(Error::file(file, Problem::Corrupt { detail: "its pages make no sense".into() }))
        })?;
        for (number, draws) in &part.planned {
            let largest = planned.entry(*number).or_default();
            *largest = (*draws).max(*largest);
        }
        if table.names.is_empty() {
            table = part;
        } else if table.names == part.names {
            table.columns.iter_mut().zip(part.columns).for_each(|(all, part)| all.extend(part));
        } else {
            let detail = "its columns are not those of the other parts".into();
            return Err(Error::file(file, Problem::Corrupt { detail }));
        }
    }
    if !planned.is_empty() && path.is_dir() {
        fill_gaps(&mut planned, std::iter::empty());
    }
    assemble(path, Table { planned, ..table })
}

/// Returns the chains that began to write to a directory, and the number of draws that they were to make.
fn begun_in(directory: &Path) -> Result<Planned> {
    let fail = |error| Error::file(directory, Problem::Io(error));
    let mut begun = Planned::new();
    for entry in fs::read_dir(directory).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(number) = name.strip_prefix(".chain-").and_then(|rest| rest.strip_suffix(".begun")?.parse().ok())
        else {
            continue;
        };
        let draws = fs::read_to_string(entry.path()).ok().and_then(|text| text.trim().parse().ok());
        begun.insert(number, draws.unwrap_or(1));
    }
    Ok(begun)
}

/// Reads one file.
fn read_file(path: &Path, budget: &mut Budget) -> Result<Table> {
    let file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
    let reader = SerializedFileReader::new(file).map_err(|error| Error::file(path, problem(&error)))?;
    let metadata = reader.metadata().file_metadata();
    let own = metadata.key_value_metadata().into_iter().flatten().find(|pair| pair.key == OWN);
    let extra = own.and_then(|pair| pair.value.as_deref()).and_then(Extra::from_json);
    let planned = extra.as_ref().map(|extra| extra.planned.clone()).unwrap_or_default();
    let mut table = Table { extra, planned, ..Table::default() };
    for (number, column) in metadata.schema_descr().columns().iter().enumerate() {
        let position = || FilePosition::default().column(column.name());
        if column.max_rep_level() > 0 {
            let problem = Problem::WrongType { found: "a list".into(), expected: "one number per draw is expected" };
            return Err(Error::at(path, position(), problem));
        }
        let mut values = Vec::new();
        for group in 0..reader.num_row_groups() {
            let cells = open_column(&reader, group, number, budget).map_err(|p| Error::at(path, position(), p))?;
            float_cells(cells, &mut values, budget).map_err(|(row, problem)| {
                let position = row.map_or_else(FilePosition::default, FilePosition::row).column(column.name());
                Error::at(path, position, problem)
            })?;
        }
        table.names.push(column.name().to_owned());
        table.columns.push(values);
    }
    let rows = table.columns.first().map_or(0, Vec::len);
    if table.columns.iter().any(|column| column.len() != rows) {
        return Err(Error::file(path, Problem::Corrupt { detail: "its columns have different lengths".into() }));
    }
    Ok(table)
}

/// Converts a table to a fit.
fn assemble(path: &Path, table: Table) -> Result<Fit> {
    let Table { names, columns, extra, planned } = table;
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
