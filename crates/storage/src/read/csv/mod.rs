//! Text tables: values between commas, tabs or runs of white space.

mod cells;
mod columns;
mod records;

use std::path::{Path, PathBuf};

use sgmcmc_core::{Dataset, Named, Precision};

pub use columns::Fields;

use cells::{Cells, Kind, Trouble};
use columns::Heading;
use records::{Format, Records};

use crate::error::{Error, Place, Problem, Result};
use crate::limit::{exceeded, memory_limit};

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Separator {
    /// One byte, such as a comma or a tab.
    Byte(u8),
    /// Any run of spaces and tabs; those at the start and the end of a line do not count.
    Whitespace,
}

/// What to do with missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Missing {
    /// Say where the first one is, as an error.
    #[default]
    Refuse,
    /// Leave out the rows that have one in a column that is read.
    SkipRow,
    /// Put this number in its place. Categories have no such number: a missing one is still refused.
    Fill(f64),
}

/// Reads a text file, compressed by gzip or not, into the leaves of a data set.
///
/// Nothing is opened before [`read`](Self::read). One column makes a leaf of rank 1, several one of rank 2, in the order given.
///
/// ```
/// use sgmcmc_storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-people.csv");
/// std::fs::write(&file, "age,height,colour,label\n30,1.8,red,1\n41,1.6,blue,0\n")?;
/// let table = read::csv(&file)
///     .float("x", ["age", "height"])
///     .codes("colour", "colour")
///     .float("y", "label")
///     .read_table()?;
/// assert_eq!(table.data.observations(), 2);
/// assert_eq!(table.levels("colour"), Some(&["blue".to_owned(), "red".to_owned()][..]));
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Csv {
    path: PathBuf,
    format: Format,
    header: bool,
    missing: Missing,
    tokens: Vec<String>,
    allow_non_finite: bool,
    precision: Precision,
    limit: u64,
    leaves: Vec<(String, Fields, Kind)>,
}

/// What was read from a text file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table {
    /// The observations.
    pub data: Dataset<Named>,
    /// How many rows were left out because of missing values.
    pub dropped: usize,
    levels: Vec<(String, Vec<String>)>,
}

impl Table {
    /// The levels of a leaf of categories: code i, or column i, stands for `levels[i]`.
    pub fn levels(&self, leaf: &str) -> Option<&[String]> {
        self.levels.iter().find(|(name, _)| name == leaf).map(|(_, levels)| levels.as_slice())
    }
}

/// A text table whose first line is a header, with commas between the fields.
pub fn csv(path: impl AsRef<Path>) -> Csv {
    Csv {
        path: path.as_ref().into(),
        format: Format { separator: Separator::Byte(b','), comment: None, skip: 0 },
        header: true,
        missing: Missing::Refuse,
        tokens: ["", "NA", "N/A", "?"].map(String::from).to_vec(),
        allow_non_finite: false,
        precision: Precision::Single,
        limit: memory_limit(),
        leaves: Vec::new(),
    }
}

impl Csv {
    /// The first line is an observation, not a header: columns go by number, counting from 0.
    #[must_use]
    pub fn no_header(self) -> Self {
        Self { header: false, ..self }
    }

    /// What stands between two fields: a comma unless said otherwise.
    #[must_use]
    pub fn separator(self, separator: Separator) -> Self {
        Self { format: Format { separator, ..self.format }, ..self }
    }

    /// Lines that start with this character are comments. There are none unless said so.
    #[must_use]
    pub fn comment(self, start: u8) -> Self {
        Self { format: Format { comment: Some(start), ..self.format }, ..self }
    }

    /// Skips this many lines at the start, before the header.
    #[must_use]
    pub fn skip_lines(self, count: u64) -> Self {
        Self { format: Format { skip: count, ..self.format }, ..self }
    }

    /// What to do with missing values. They are refused unless said otherwise.
    #[must_use]
    pub fn missing(self, policy: Missing) -> Self {
        Self { missing: policy, ..self }
    }

    /// What a missing value looks like: nothing, `NA`, `N/A` and `?` unless said otherwise.
    #[must_use]
    pub fn missing_is<const N: usize>(self, tokens: [&str; N]) -> Self {
        Self { tokens: tokens.map(String::from).to_vec(), ..self }
    }

    /// Lets NaN and infinite values through.
    #[must_use]
    pub fn allow_non_finite(self) -> Self {
        Self { allow_non_finite: true, ..self }
    }

    /// How many bytes of memory the content may take, see [`limit`](crate::limit).
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    /// The type of all float leaves: f32 unless said otherwise.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// A float leaf.
    #[must_use]
    pub fn float(self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.with(leaf, columns.into(), Kind::Float)
    }

    /// A leaf of integers (i64).
    #[must_use]
    pub fn int(self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.with(leaf, columns.into(), Kind::Int)
    }

    /// A leaf of integer codes 0, 1, … for the categories in one column, sorted by name (numbers by size).
    #[must_use]
    pub fn codes(self, leaf: &str, column: impl Into<Fields>) -> Self {
        self.with(leaf, column.into(), Kind::Codes(None))
    }

    /// As [`codes`](Self::codes), with the levels of an earlier file: code i is `levels[i]`, and any other category an error.
    #[must_use]
    pub fn codes_of(self, leaf: &str, column: impl Into<Fields>, levels: &[String]) -> Self {
        self.with(leaf, column.into(), Kind::Codes(Some(levels.to_vec())))
    }

    /// A float leaf with one column of zeros and ones for each category in one column, sorted as by [`codes`](Self::codes).
    #[must_use]
    pub fn one_hot(self, leaf: &str, column: impl Into<Fields>) -> Self {
        self.with(leaf, column.into(), Kind::OneHot(None))
    }

    /// As [`one_hot`](Self::one_hot), with the levels of an earlier file.
    #[must_use]
    pub fn one_hot_of(self, leaf: &str, column: impl Into<Fields>, levels: &[String]) -> Self {
        self.with(leaf, column.into(), Kind::OneHot(Some(levels.to_vec())))
    }

    fn with(mut self, leaf: &str, columns: Fields, kind: Kind) -> Self {
        self.leaves.push((leaf.into(), columns, kind));
        self
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// With file, line and column, if the file is missing, empty, truncated or corrupt, lacks a column that was asked for, has
    /// rows of different length, text in place of a number, NaN, infinite or missing values, or categories not among the levels.
    pub fn read(&self) -> Result<Dataset<Named>> {
        self.read_table().map(|table| table.data)
    }

    /// As [`read`](Self::read), with the levels of categories and the number of rows left out.
    pub fn read_table(&self) -> Result<Table> {
        let path = self.path.as_path();
        let mut records = Records::open(path, self.format, self.limit)?;
        let Some(first) = records.next()? else { return Err(Error::file(path, Problem::Empty)) };
        let names =
            self.header.then(|| first.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into()).collect());
        let heading = Heading { names, count: first.len() };
        let mut leaves =
            self.leaves.iter().map(|leaf| self.start(leaf, &heading, &records)).collect::<Result<Vec<_>>>()?;
        let mut more = !self.header || records.next()?.is_some();
        let (mut rows, mut dropped) = (0, 0);
        while more {
            if self.take_row(&records, &heading, &mut leaves)? {
                rows += 1;
            } else {
                leaves.iter_mut().for_each(|(columns, cells)| cells.truncate(rows * columns.len()));
                dropped += 1;
            }
            let used = leaves.iter().map(|(_, cells)| cells.bytes()).sum();
            records.allow(used)?;
            more = records.next()?.is_some();
        }
        if rows == 0 {
            return Err(Error::file(path, Problem::Empty));
        }
        let (mut columns, mut levels) = (Vec::new(), Vec::new());
        for ((name, ..), (numbers, cells)) in self.leaves.iter().zip(leaves) {
            if cells.finished_bytes() > self.limit {
                return Err(Error::file(path, exceeded(self.limit)));
            }
            let finished = cells.finish(name, numbers.len(), self.precision).map_err(Error::content(path))?;
            columns.push(finished.0);
            levels.extend(finished.1.map(|names| (name.clone(), names)));
        }
        // Values that are not finite were refused while reading, with their line.
        let data = Dataset::from_columns_allow_non_finite(columns).map_err(Error::content(path))?;
        Ok(Table { data, dropped, levels })
    }

    fn start(
        &self,
        (leaf, fields, kind): &(String, Fields, Kind),
        heading: &Heading,
        records: &Records<'_>,
    ) -> Result<(Vec<usize>, Cells)> {
        let numbers = heading.find(fields, &self.path, records.line())?;
        let categories = matches!(kind, Kind::Codes(_) | Kind::OneHot(_));
        if numbers.is_empty() || (categories && numbers.len() > 1) {
            let range = if categories { "categories come from one column" } else { "a leaf needs a column" };
            let problem = Problem::OutOfRange {
                what: "the number of columns",
                value: numbers.len().to_string(),
                range: format!("{range} (leaf `{leaf}`)"),
            };
            return Err(Error::file(&self.path, problem));
        }
        Ok((numbers, Cells::new(kind, self.precision)))
    }

    /// Takes in the current record, or says that it is to be left out.
    fn take_row(&self, records: &Records<'_>, heading: &Heading, leaves: &mut [(Vec<usize>, Cells)]) -> Result<bool> {
        let record = records.current();
        if record.len() != heading.count {
            let problem = Problem::Ragged { found: record.len(), expected: heading.count };
            return Err(Error::at(&self.path, Place::line(records.line()), problem));
        }
        for (columns, cells) in leaves {
            for number in columns.iter() {
                let text = record[*number].trim_ascii();
                let pushed = match (cells.push(text, &self.tokens, self.allow_non_finite), self.missing) {
                    (Err(Trouble::Missing), Missing::SkipRow) => return Ok(false),
                    (Err(Trouble::Missing), Missing::Fill(value)) => cells.fill(value, self.allow_non_finite),
                    (pushed, _) => pushed,
                };
                pushed.map_err(|trouble| {
                    let problem = match trouble {
                        Trouble::Missing => Problem::Missing { text: String::from_utf8_lossy(text).into() },
                        Trouble::Wrong(problem) => problem,
                    };
                    Error::at(&self.path, Place::line(records.line()).column(heading.label(*number)), problem)
                })?;
            }
        }
        Ok(true)
    }
}
