//! The reader of the format.

use std::path::{Path, PathBuf};

use sgmcmc_fit::Fit;

use super::{FIRST_COLUMNS, is_chain};
use crate::error::{Error, Problem, Result};
use crate::fits::directory::all_files_in;
use crate::fits::lines::{NumberTable, WholeLines, error_in_line};
use crate::fits::table::{self, Planned};
use crate::limit::{Budget, memory_limit};

/// The draws of one file.
struct ChainFile {
    path: PathBuf,
    table: NumberTable,
}

/// Reads one file, or all files of this format in a directory as one chain each, in the order of their names.
///
/// All whole lines of a truncated file are read. The file does not record how many draws were planned, so that all chains count
/// as stopped.
///
/// # Errors
///
/// Returns an error with file, line and column if there is no draw, a line has the wrong number of fields, a field is
/// not a number, or the files of a directory have different columns.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::fits::draws_csv;
///
/// let path = std::env::temp_dir().join("sgmcmc-doc-read-draws.csv");
/// std::fs::write(&path, "iteration,weight,log_posterior,mu\n1,0.1,-2.5,0.25\n2,0.1,-2,0.5\n")?;
/// let fit = draws_csv::read(&path)?;
/// assert_eq!(fit.element("mu")?, [[0.25, 0.5]]);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut budget = Budget::new(limit);
    let mut planned = Planned::new();
    let mut chains: Vec<(usize, ChainFile)> = Vec::new();
    for (number, file) in chain_files(path)?.into_iter().enumerate() {
        match read_file(&file, &mut budget)? {
            Some(chain) => chains.push((number, chain)),
            None if path.is_dir() => _ = planned.insert(number, 1),
            None => {
                let detail = "there is no whole line with the names of columns".into();
                return Err(Error::file(path, Problem::Truncated { detail }));
            }
        }
    }
    let Some((_, first)) = chains.first() else { return Err(Error::file(path, Problem::NoDraws)) };
    let names = first.table.names.clone();
    if let Some((_, other)) = chains.iter().find(|(_, chain)| chain.table.names != names) {
        let detail = "its columns are not those of the other files".to_owned();
        return Err(Error::file(&other.path, Problem::Corrupt { detail }));
    }
    let values: Vec<(usize, &str)> =
        names.iter().enumerate().skip(first_columns(&names)).map(|(column, name)| (column, name.as_str())).collect();
    let (layout, order) = table::layout_of_columns(path, table::group(&values, false))?;
    let mut read = Vec::new();
    for (number, chain) in chains {
        // The planned number of draws is unknown, and a fit that may have been interrupted must not count as complete.
        planned.insert(number, chain.table.len() + 1);
        read.push(table::Chain { number, ..columns(chain.table, &order) });
    }
    table::fit(path, layout, read, &planned)
}

/// Returns the files of the chains in the order of their numbers. Those of chains without draws may be empty or have a
/// part of the header.
fn chain_files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let files = all_files_in(path, "csv")?.into_iter().map(|file| file.path);
    Ok(files.filter(|file| is_chain(file)).collect())
}

/// Returns the number of columns before the values. A parameter may have the name of one of these columns.
fn first_columns(names: &[String]) -> usize {
    names.iter().zip(FIRST_COLUMNS).take_while(|(name, first)| name == first).count()
}

/// Sorts the columns of a file into values, in the order of the layout, and the first columns.
fn columns(table: NumberTable, order: &[usize]) -> table::Chain {
    let mut chain = table::Chain {
        draws: table.len(),
        values: order.iter().map(|column| table.columns[*column].clone()).collect(),
        ..Default::default()
    };
    let count = first_columns(&table.names);
    for (number, column) in table.columns.into_iter().take(count).enumerate() {
        match number {
            0 => chain.iterations = Some(column.into_iter().map(|number| number as u64).collect()),
            1 => chain.weights = Some(column),
            _ => chain.log_posterior = Some(column),
        }
    }
    chain
}

/// Reads one file, or returns `None` if the header is incomplete: the chain was interrupted before its first flush.
fn read_file(path: &Path, budget: &mut Budget) -> Result<Option<ChainFile>> {
    let mut lines = WholeLines::open(path)?;
    let Some(names) = read_header(&mut lines, budget)? else { return Ok(None) };
    let mut table = NumberTable::new(names);
    while let Some((number, line)) = lines.next(budget)? {
        if !line.trim().is_empty() {
            table.push(line.trim(), budget, error_in_line(path, number))?;
        }
    }
    Ok(Some(ChainFile { path: path.to_path_buf(), table }))
}

/// Reads the names of the columns, or returns `None` if the header is incomplete.
fn read_header(lines: &mut WholeLines<'_>, budget: &Budget) -> Result<Option<Vec<String>>> {
    let mut header = String::new();
    loop {
        let Some((_, line)) = lines.next(budget)? else { return Ok(None) };
        header.push_str(line);
        if header.len() as u64 > budget.left() {
            return Err(lines.error(budget.exceeded()));
        }
        // A name may contain line breaks; the header ends where all quotes are closed.
        if header.bytes().filter(|byte| *byte == b'"').count() % 2 == 0 {
            break;
        }
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(header.as_bytes());
    let mut record = csv::StringRecord::new();
    let found = reader.read_record(&mut record).map_err(|error| {
        lines.error(Problem::Corrupt { detail: format!("the names of columns are not understood: {error}") })
    })?;
    Ok(found.then(|| record.iter().map(name).collect()))
}

/// Returns the name in a cell of the header without the apostrophe that keeps spreadsheets from reading it as a
/// formula.
fn name(cell: &str) -> String {
    match cell.strip_prefix('\'') {
        Some(name) if name.starts_with(['=', '+', '-', '@', '\t', '\r']) => name.to_owned(),
        _ => cell.to_owned(),
    }
}
