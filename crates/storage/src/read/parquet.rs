//! Parquet files, by the `parquet` crate without Arrow. Compressed by Snappy, gzip or Zstandard, or not.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use sgmcmc_core::data::{Column, Values};
use sgmcmc_core::{Dataset, Named, Precision};

use super::Fields;
use crate::error::{Error, Place, Problem, Result};
use crate::limit::{Budget, memory_limit};

/// Reads columns of a Parquet file into the leaves of a data set.
///
/// One column makes a leaf of rank 1, several one of rank 2, in the order given. Float leaves take columns of floats, integers
/// and booleans; integer leaves those of integers and booleans. Null values are errors.
#[derive(Clone, Debug)]
pub struct Parquet {
    path: PathBuf,
    precision: Precision,
    limit: u64,
    leaves: Vec<(String, Fields, bool)>,
}

/// A Parquet file.
pub fn parquet(path: impl AsRef<Path>) -> Parquet {
    Parquet { path: path.as_ref().into(), precision: Precision::Single, limit: memory_limit(), leaves: Vec::new() }
}

impl Parquet {
    /// The type of all float leaves: f32 unless said otherwise.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// How many bytes of memory the content may take, see [`limit`](crate::limit).
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    /// A float leaf.
    #[must_use]
    pub fn float(mut self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.leaves.push((leaf.into(), columns.into(), true));
        self
    }

    /// A leaf of integers (i64).
    #[must_use]
    pub fn int(mut self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.leaves.push((leaf.into(), columns.into(), false));
        self
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// With file, row and column, if the file is missing or damaged, lacks a column that was asked for, or a column is nested, of
    /// another type, or has null, NaN or infinite values.
    pub fn read(&self) -> Result<Dataset<Named>> {
        let path = self.path.as_path();
        let file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
        // The `parquet` crate may panic on a damaged file; for whoever reads a file that is an error like any other.
        let read = std::panic::AssertUnwindSafe(|| self.read_columns(file));
        let columns = std::panic::catch_unwind(read).unwrap_or_else(|_| {
            Err(Error::file(path, Problem::Corrupt { detail: "its pages make no sense".into() }))
        })?;
        Dataset::from_columns(columns).map_err(Error::content(path))
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

    /// Each column from all row groups.
    fn columns<T>(
        &self,
        reader: &SerializedFileReader<File>,
        numbers: &[usize],
        names: &[String],
        budget: &mut Budget,
        cells: impl Fn(ColumnReader, &mut Vec<T>, &mut Budget) -> Cells,
    ) -> Result<Vec<Vec<T>>> {
        let mut read = |number: &usize| {
            let place = |row: Option<u64>| row.map_or_else(Place::default, Place::row).column(names[*number].clone());
            let schema = reader.metadata().file_metadata().schema_descr();
            if schema.column(*number).max_rep_level() > 0 {
                let problem = Problem::WrongType { found: "a list".into(), expected: "one number per row is wanted" };
                return Err(Error::at(&self.path, place(None), problem));
            }
            let mut values = Vec::new();
            for group in 0..reader.num_row_groups() {
                let column = open_column(reader, group, *number, budget)
                    .map_err(|problem| Error::at(&self.path, place(None), problem))?;
                cells(column, &mut values, budget)
                    .map_err(|(row, problem)| Error::at(&self.path, place(row), problem))?;
            }
            Ok(values)
        };
        numbers.iter().map(&mut read).collect()
    }
}

/// A column of one row group, whose pages take no more memory than there is.
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

/// The error has the row, where it is about one.
pub(crate) type Cells = Result<(), (Option<u64>, Problem)>;

pub(crate) fn float_cells(column: ColumnReader, values: &mut Vec<f64>, budget: &mut Budget) -> Cells {
    match column {
        ColumnReader::FloatColumnReader(column) => pull(column, values, budget, f64::from),
        ColumnReader::DoubleColumnReader(column) => pull(column, values, budget, |value| value),
        ColumnReader::Int32ColumnReader(column) => pull(column, values, budget, f64::from),
        ColumnReader::Int64ColumnReader(column) => pull(column, values, budget, |value| value as f64),
        ColumnReader::BoolColumnReader(column) => pull(column, values, budget, f64::from),
        _ => {
            let found = "neither a number nor a boolean".into();
            Err((None, Problem::WrongType { found, expected: "a float leaf takes numbers and booleans" }))
        }
    }
}

fn int_cells(column: ColumnReader, values: &mut Vec<i64>, budget: &mut Budget) -> Cells {
    match column {
        ColumnReader::Int32ColumnReader(column) => pull(column, values, budget, i64::from),
        ColumnReader::Int64ColumnReader(column) => pull(column, values, budget, |value| value),
        ColumnReader::BoolColumnReader(column) => pull(column, values, budget, i64::from),
        _ => {
            let found = "neither an integer nor a boolean".into();
            Err((None, Problem::WrongType { found, expected: "an integer leaf takes integers and booleans" }))
        }
    }
}

/// Appends all values of a column of one row group.
fn pull<S: DataType, T>(
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

pub(crate) fn problem(error: &ParquetError) -> Problem {
    match error {
        ParquetError::EOF(_) => Problem::Truncated { detail: error.to_string() },
        _ => Problem::Corrupt { detail: error.to_string() },
    }
}

/// Row after row.
fn interleaved<T: Copy>(columns: &[Vec<T>]) -> Vec<T> {
    let rows = 0..columns.iter().map(Vec::len).min().unwrap_or_default();
    rows.flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}

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
        Fields::Names(wanted) => {
            let place =
                |name: &String| names.iter().position(|known| known == name).ok_or_else(|| unknown(name.clone()));
            wanted.iter().map(place).collect()
        }
    }
}
