//! The reader of Parquet files, for files of this library and tables with the same names of columns.

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use sgmcmc_fit::Fit;

use crate::error::{Error, FilePosition, Problem, Result};
use crate::fits::directory::files_in;
use crate::fits::draws_table::{DrawsTable, OWN};
use crate::fits::extra::Extra;
use crate::fits::table::{Planned, fill_gaps};
use crate::limit::{Budget, memory_limit};
use crate::read::parquet::{float_cells, open_column, problem};

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
    let mut table = DrawsTable::default();
    let mut chains = 0;
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
        chains = part.extra.as_ref().map_or(0, |extra| extra.chains).max(chains);
        table.append(part).map_err(|problem| Error::file(file, problem))?;
    }
    if !planned.is_empty() && path.is_dir() {
        fill_gaps(&mut planned, chains, std::iter::empty());
    }
    DrawsTable { planned, ..table }.into_fit(path)
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
fn read_file(path: &Path, budget: &mut Budget) -> Result<DrawsTable> {
    let file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
    let reader = SerializedFileReader::new(file).map_err(|error| Error::file(path, problem(&error)))?;
    let metadata = reader.metadata().file_metadata();
    let own = metadata.key_value_metadata().into_iter().flatten().find(|pair| pair.key == OWN);
    let extra = own.and_then(|pair| pair.value.as_deref()).and_then(Extra::from_json);
    let planned = extra.as_ref().map(|extra| extra.planned.clone()).unwrap_or_default();
    let mut table = DrawsTable { extra, planned, ..DrawsTable::default() };
    for (number, column) in metadata.schema_descr().columns().iter().enumerate() {
        let position = || FilePosition::default().column(column.name());
        if column.max_rep_level() > 0 {
            let problem = Problem::WrongType { found: "a list".into(), expected: "one number per draw is expected" };
            return Err(Error::at_position(path, position(), problem));
        }
        let mut values = Vec::new();
        for group in 0..reader.num_row_groups() {
            let cells =
                open_column(&reader, group, number, budget).map_err(|p| Error::at_position(path, position(), p))?;
            float_cells(cells, &mut values, budget).map_err(|(row, problem)| {
                let position = row.map_or_else(FilePosition::default, FilePosition::row).column(column.name());
                Error::at_position(path, position, problem)
            })?;
        }
        table.names.push(column.name().to_owned());
        table.columns.push(values);
    }
    table.check().map_err(|problem| Error::file(path, problem))?;
    Ok(table)
}
