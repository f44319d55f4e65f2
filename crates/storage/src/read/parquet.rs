//! Parquet files, read with the `parquet` crate without Arrow. Pages may be compressed with Snappy, gzip or Zstandard.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use sgmcmc_gradient::data::{Column, Values};
use sgmcmc_gradient::{Columns, Precision};

use super::checked;
use super::{Fields, Part};
use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::{Budget, memory_limit};

/// A reader of columns of a Parquet file into the leaves of a data set. [`parquet()`] creates it.
///
/// One column becomes a leaf of rank 1. Several columns become a leaf of rank 2, in the given order. Float leaves
/// accept columns of floats, integers and booleans. Integer leaves accept columns of integers and booleans. Null values
/// are errors.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::{fits, read};
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let file = std::env::temp_dir().join("sgmcmc-doc-read.parquet");
/// fits::save(&fit, &file)?;
/// let columns = read::parquet(&file).float("weight", "weight").int("draw", "draw").read()?;
/// assert_eq!(columns.observations(), 20);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parquet {
    path: PathBuf,
    precision: Precision,
    limit: u64,
    leaves: Vec<(String, Fields, bool)>,
    part: Option<Part>,
}

/// Creates a reader of the Parquet file at `path`. The file is opened by [`Parquet::read`].
///
/// # Examples
///
/// See [`Parquet`].
pub fn parquet(path: impl AsRef<Path>) -> Parquet {
    Parquet {
        path: path.as_ref().into(),
        precision: Precision::Single,
        limit: memory_limit(),
        leaves: Vec::new(),
        part: None,
    }
}

impl Parquet {
    /// Sets the type of all float leaves. The default is `f32`.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Sets the memory limit of the content in bytes, see [`limit`](crate::limit).
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Adds a float leaf.
    #[must_use]
    pub fn float(mut self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.leaves.push((leaf.into(), columns.into(), true));
        self
    }

    /// Adds an integer leaf (`i64`).
    #[must_use]
    pub fn int(mut self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.leaves.push((leaf.into(), columns.into(), false));
        self
    }

    /// Reads only part number `index` of `count` parts of the file, whole row groups. The parts together are the file.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::storage::read;
    ///
    /// let error = read::parquet("missing.parquet").float("x", "x").part(3, 2).read().unwrap_err();
    /// assert!(error.to_string().contains("missing.parquet"));
    /// ```
    #[must_use]
    pub fn part(self, index: usize, count: usize) -> Self {
        Self { part: Some(Part { index: index as u64, count: count as u64 }), ..self }
    }

    /// Returns the row groups to read.
    fn groups(&self, reader: &SerializedFileReader<File>) -> Result<Range<usize>> {
        let groups = reader.num_row_groups();
        let Some(part) = self.part else { return Ok(0..groups) };
        let range = part.of(groups as u64).map_err(|problem| Error::file(&self.path, problem))?;
        if range.is_empty() {
            let (what, value) = ("the number of parts", part.count.to_string());
            let range = format!("at most {groups}, the number of row groups: write the file with smaller row groups");
            return Err(Error::file(&self.path, Problem::OutOfRange { what, value, range }));
        }
        Ok(range.start as usize..range.end as usize)
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// Returns an error with file, row and column if the file is missing or damaged, a requested column does not exist,
    /// or a column is nested, has another type, or has null, NaN or infinite values.
    pub fn read(&self) -> Result<Columns> {
        let path = self.path.as_path();
        let file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
        // The `parquet` crate may panic on a damaged file. The panic is converted to an error.
        let read = std::panic::AssertUnwindSafe(|| self.read_columns(file));
        let columns = std::panic::catch_unwind(read).unwrap_or_else(|_| {
            Err(Error::file(path, Problem::Corrupt { detail: "its pages make no sense".into() }))
        })?;
        checked(columns.into(), path)
    }

    fn read_columns(&self, file: File) -> Result<Vec<Column>> {
        let path = self.path.as_path();
        let reader = SerializedFileReader::new(file).map_err(|error| Error::file(path, problem(&error)))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        if reader.metadata().file_metadata().num_rows() <= 0 {
            return Err(Error::file(path, Problem::Empty));
        }
        let mut budget = Budget::new(self.limit);
        let mut leaves = Vec::new();
        for (leaf, fields, float) in &self.leaves {
            let numbers = find(fields, &names, path)?;
            let shape = if numbers.len() == 1 { vec![] } else { vec![numbers.len()] };
            let values: Values = if *float {
                interleaved(&self.columns(&reader, &numbers, &names, &mut budget, float_cells)?).into()
            } else {
                interleaved(&self.columns(&reader, &numbers, &names, &mut budget, int_cells)?).into()
            };
            let column = Column::new(leaf.as_str(), values, shape).map_err(Error::content(path))?;
            leaves.push(column.with_precision(self.precision));
        }
        Ok(leaves)
    }

    /// Reads each column from all row groups.
    fn columns<T>(
        &self,
        reader: &SerializedFileReader<File>,
        numbers: &[usize],
        names: &[String],
        budget: &mut Budget,
        cells: impl Fn(ColumnReader, &mut Vec<T>, &mut Budget) -> Cells,
    ) -> Result<Vec<Vec<T>>> {
        let mut read = |number: &usize| {
            let position = |row: Option<u64>| {
                row.map_or_else(FilePosition::default, FilePosition::row).column(names[*number].clone())
            };
            let schema = reader.metadata().file_metadata().schema_descr();
            if schema.column(*number).max_rep_level() > 0 {
                let problem = Problem::WrongType { found: "a list".into(), expected: "one number per row is expected" };
                return Err(Error::at_position(&self.path, position(None), problem));
            }
            let mut values = Vec::new();
            for group in self.groups(reader)? {
                let column = open_column(reader, group, *number, budget)
                    .map_err(|problem| Error::at_position(&self.path, position(None), problem))?;
                cells(column, &mut values, budget)
                    .map_err(|(row, problem)| Error::at_position(&self.path, position(row), problem))?;
            }
            Ok(values)
        };
        numbers.iter().map(&mut read).collect()
    }
}

/// Opens a column of one row group.
///
/// # Errors
///
/// Returns an error if the pages need more memory than the budget allows.
pub(crate) fn open_column(
    reader: &SerializedFileReader<File>,
    group: usize,
    column: usize,
    budget: &Budget,
) -> Result<ColumnReader, Problem> {
    let unpacked = reader.metadata().row_group(group).column(column).uncompressed_size();
    if u64::try_from(unpacked).is_ok_and(|bytes| bytes > budget.left()) {
        return Err(budget.exceeded());
    }
    reader.get_row_group(group).and_then(|group| group.get_column_reader(column)).map_err(|error| problem(&error))
}

/// The result of reading cells. The error has the row, if it is about one row.
pub(crate) type Cells = Result<(), (Option<u64>, Problem)>;

/// Appends the values of a column of numbers or booleans as floats.
pub(crate) fn float_cells(column: ColumnReader, values: &mut Vec<f64>, budget: &mut Budget) -> Cells {
    match column {
        ColumnReader::FloatColumnReader(column) => append_values(column, values, budget, f64::from),
        ColumnReader::DoubleColumnReader(column) => append_values(column, values, budget, |value| value),
        ColumnReader::Int32ColumnReader(column) => append_values(column, values, budget, f64::from),
        ColumnReader::Int64ColumnReader(column) => append_values(column, values, budget, |value| value as f64),
        ColumnReader::BoolColumnReader(column) => append_values(column, values, budget, f64::from),
        _ => {
            let found = "neither a number nor a boolean".into();
            Err((None, Problem::WrongType { found, expected: "a float leaf takes numbers and booleans" }))
        }
    }
}

/// Appends the values of a column of integers or booleans as integers.
fn int_cells(column: ColumnReader, values: &mut Vec<i64>, budget: &mut Budget) -> Cells {
    match column {
        ColumnReader::Int32ColumnReader(column) => append_values(column, values, budget, i64::from),
        ColumnReader::Int64ColumnReader(column) => append_values(column, values, budget, |value| value),
        ColumnReader::BoolColumnReader(column) => append_values(column, values, budget, i64::from),
        _ => {
            let found = "neither an integer nor a boolean".into();
            Err((None, Problem::WrongType { found, expected: "an integer leaf takes integers and booleans" }))
        }
    }
}

/// Appends all values of a column of one row group.
fn append_values<S: DataType, T>(
    mut column: ColumnReaderImpl<S>,
    values: &mut Vec<T>,
    budget: &mut Budget,
    convert: impl Fn(S::T) -> T,
) -> Cells {
    const BLOCK: usize = 1 << 13;
    let (mut levels, mut block) = (Vec::new(), Vec::new());
    loop {
        levels.clear();
        block.clear();
        let read = column.read_records(BLOCK, Some(&mut levels), None, &mut block);
        let (records, present, _) = read.map_err(|error| (None, problem(&error)))?;
        if present < records {
            let deepest = levels.iter().max().copied().unwrap_or_default().max(1);
            let null = levels.iter().position(|level| *level < deepest).unwrap_or_default();
            return Err((Some((values.len() + null) as u64), Problem::Missing { text: "null".into() }));
        }
        if records == 0 {
            return Ok(());
        }
        budget.take_elements::<T>(block.len() as u64).map_err(|problem| (None, problem))?;
        values.extend(block.drain(..).map(&convert));
    }
}

/// Converts an error of the `parquet` crate.
pub(crate) fn problem(error: &ParquetError) -> Problem {
    match error {
        ParquetError::EOF(_) => Problem::Truncated { detail: error.to_string() },
        _ => Problem::Corrupt { detail: error.to_string() },
    }
}

/// Returns the values of several columns in row-major order.
fn interleaved<T: Copy>(columns: &[Vec<T>]) -> Vec<T> {
    let rows = 0..columns.iter().map(Vec::len).min().unwrap_or_default();
    rows.flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}

/// Returns the numbers of the requested columns.
fn find(fields: &Fields, names: &[String], path: &Path) -> Result<Vec<usize>> {
    let unknown = |name: String| {
        let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Error::file(path, Problem::UnknownColumn { name, known })
    };
    match fields {
        Fields::Numbers(numbers) => match numbers.iter().find(|number| **number >= names.len()) {
            Some(number) => Err(unknown(number.to_string())),
            None => Ok(numbers.clone()),
        },
        Fields::Names(requested) => {
            let position =
                |name: &String| names.iter().position(|known| known == name).ok_or_else(|| unknown(name.clone()));
            requested.iter().map(position).collect()
        }
    }
}
