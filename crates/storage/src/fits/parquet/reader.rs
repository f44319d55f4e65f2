//! Parquet back into a fit: files of this library, and tables of whoever calls their columns alike.

use std::collections::BTreeMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use sgmcmc_samplers::run::Fit;

use super::{FIRST, OWN};
use crate::error::{Error, Place, Problem, Result};
use crate::fits::files_in;
use crate::fits::table::{self, Extra, Grouped};
use crate::read::parquet::{float_cells, problem};

/// The columns of all parts, one after another.
#[derive(Default)]
struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    extra: Option<Extra>,
}

/// Reads a file, or all parts in a directory, into one fit.
///
/// Of tables that others wrote, `chain`, `draw`, `iteration`, `weight` and `lp` mean what they mean here, and every other column is a
/// value; only values are needed.
///
/// # Errors
///
/// With file and column: if it is no Parquet file or a damaged one, if a column is no column of numbers, or if parts have different
/// columns.
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    let path = path.as_ref();
    let files = if path.is_dir() { files_in(path, "parquet")? } else { vec![path.to_path_buf()] };
    let mut table = Table::default();
    for file in &files {
        // The `parquet` crate may panic on a damaged file; for whoever reads a file that is an error like any other.
        let read = catch_unwind(AssertUnwindSafe(|| read_file(file)));
        let part = read.unwrap_or_else(|_| {
            Err(Error::file(file, Problem::Corrupt { detail: "its pages make no sense".into() }))
        })?;
        if table.names.is_empty() {
            table = part;
        } else if table.names == part.names {
            table.columns.iter_mut().zip(part.columns).for_each(|(all, part)| all.extend(part));
        } else {
            let detail = "its columns are not those of the other parts".into();
            return Err(Error::file(file, Problem::Corrupt { detail }));
        }
    }
    assemble(path, table)
}

fn read_file(path: &Path) -> Result<Table> {
    let file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
    let reader = SerializedFileReader::new(file).map_err(|error| Error::file(path, problem(&error)))?;
    let metadata = reader.metadata().file_metadata();
    let own = metadata.key_value_metadata().into_iter().flatten().find(|pair| pair.key == OWN);
    let extra = own.and_then(|pair| pair.value.as_deref()).and_then(Extra::from_json);
    let mut table = Table { extra, ..Table::default() };
    for (number, column) in metadata.schema_descr().columns().iter().enumerate() {
        let place = || Place::default().column(column.name());
        if column.max_rep_level() > 0 {
            let problem = Problem::WrongType { found: "a list".into(), expected: "one number per draw is wanted" };
            return Err(Error::at(path, place(), problem));
        }
        let mut values = Vec::new();
        for group in 0..reader.num_row_groups() {
            let cells = reader.get_row_group(group).and_then(|group| group.get_column_reader(number));
            let cells = cells.map_err(|error| Error::at(path, place(), problem(&error)))?;
            float_cells(cells, &mut values).map_err(|(row, problem)| {
                let place = row.map_or_else(Place::default, Place::row).column(column.name());
                Error::at(path, place, problem)
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

fn assemble(path: &Path, table: Table) -> Result<Fit> {
    let Table { names, columns, extra } = table;
    let first = FIRST.map(|first| names.iter().position(|name| name == first));
    let own = extra.filter(|extra| {
        first.iter().enumerate().all(|(place, found)| *found == Some(place))
            && names.len() == FIRST.len() + extra.stats.len() + extra.layout.value_count()
    });
    // Of this library's tables the places of columns are known; of others, their names.
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
            let grouped: Vec<Grouped> = table::group(&others, false);
            let order = grouped.iter().flat_map(|(.., columns)| columns.iter().copied()).collect();
            (table::layout(path, grouped.into_iter().map(|(name, shape, _)| (name, shape)))?, Vec::new(), order)
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
    let chains = chains.values().map(|rows| {
        let whole = |column| take(rows, column).into_iter().map(|number| number as u64).collect();
        let chain = table::Chain {
            iterations: first[2].map(whole),
            weights: first[3].map(|column| take(rows, column)),
            log_posterior: first[4].map(|column| take(rows, column)),
            stats: stats.iter().cloned().zip((FIRST.len()..).map(|column| take(rows, column))).collect(),
            values: order.iter().map(|column| take(rows, *column)).collect(),
        };
        (chain, rows.len())
    });
    let fit = table::fit(path, layout, chains.collect())?;
    match own {
        Some(extra) => extra.dress(path, fit),
        None => Ok(fit),
    }
}
