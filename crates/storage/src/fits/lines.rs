//! Text tables of draws: whole lines within a memory budget, and rows of numbers.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::Budget;
use crate::source::open_plain;

/// Reads the whole lines of a text file of draws.
pub(super) struct WholeLines<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    buffer: Vec<u8>,
    number: u64,
}

impl<'a> WholeLines<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        Ok(Self { path, reader: open_plain(path)?, buffer: Vec::new(), number: 0 })
    }

    /// Returns the number and the text of the next line with its line break, or `None` at the end of the file.
    ///
    /// A last line without a line break is not returned: the file was truncated, and its last number may be incomplete.
    ///
    /// # Errors
    ///
    /// Returns an error with the line if it cannot be read, is longer than the budget allows, or is not UTF-8.
    pub(super) fn next(&mut self, budget: &Budget) -> Result<Option<(u64, &str)>> {
        self.number += 1;
        self.buffer.clear();
        let read = (&mut self.reader).take(budget.left()).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|error| self.error(Problem::reading(error)))?;
        if read as u64 == budget.left() && read > 0 {
            return Err(self.error(budget.exceeded()));
        }
        if !self.buffer.ends_with(b"\n") {
            return Ok(None);
        }
        match std::str::from_utf8(&self.buffer) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(_) => Err(self.error(Problem::Corrupt { detail: "it is not text".into() })),
        }
    }

    /// Returns an error about the last line that was read.
    pub(super) fn error(&self, problem: Problem) -> Error {
        Error::at_position(self.path, FilePosition::line(self.number), problem)
    }
}

/// Named columns of numbers that grow by rows.
#[derive(Debug, Default)]
pub(super) struct NumberTable {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Vec<f64>>,
}

impl NumberTable {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self { columns: vec![Vec::new(); names.len()], names }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Appends a line of comma-separated numbers. `error` makes an error about the line, in a column if one is given.
    ///
    /// # Errors
    ///
    /// Returns an error with line and column if the number of fields is wrong, a field is not a number, or the budget
    /// is exceeded.
    pub(super) fn push(
        &mut self,
        text: &str,
        budget: &mut Budget,
        error: impl Fn(Option<&str>, Problem) -> Error,
    ) -> Result<()> {
        budget.take_elements::<f64>(self.names.len() as u64).map_err(|problem| error(None, problem))?;
        let found = text.split(',').count();
        if found != self.names.len() {
            return Err(error(None, Problem::Ragged { found, expected: self.names.len() }));
        }
        for ((field, column), name) in text.split(',').zip(&mut self.columns).zip(&self.names) {
            let number = field.trim().parse();
            column.push(number.map_err(|_| error(Some(name), Problem::not_a_number(field.as_bytes(), "a number")))?);
        }
        Ok(())
    }
}

/// Returns a function that makes errors about a line of a file, in a column if one is given.
pub(super) fn error_in_line(path: &Path, line: u64) -> impl Fn(Option<&str>, Problem) -> Error {
    move |column, problem| {
        let position =
            column.map_or_else(|| FilePosition::line(line), |column| FilePosition::line(line).column(column));
        Error::at_position(path, position, problem)
    }
}
