//! Text tables, separated by commas, tabs or white space.

mod cells;
mod columns;
mod records;

use std::path::{Path, PathBuf};

use sgmcmc_gradient::{Columns, Precision};

pub use columns::Fields;

use cells::{CellError, Cells, Kind};
use columns::Heading;
use records::{Format, Records};

use super::{Part, checked};
use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::{exceeded, memory_limit};

/// The separator between two fields.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read::{self, Separator};
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-separator.txt");
/// std::fs::write(&file, "x;y\n0.5;1\n1.5;0\n")?;
/// let columns = read::csv(&file).separator(Separator::Byte(b';')).float("x", "x").read()?;
/// assert_eq!(columns.observations(), 2);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Separator {
    /// One byte, such as a comma or a tab.
    Byte(u8),
    /// Any run of spaces and tabs. Spaces and tabs at the start and the end of a line are ignored.
    Whitespace,
}

/// The treatment of missing values.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read::{self, Missing};
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-missing.csv");
/// std::fs::write(&file, "x\n0.5\nNA\n1.5\n")?;
/// assert!(read::csv(&file).float("x", "x").read().is_err());
/// let table = read::csv(&file).missing(Missing::SkipRow).float("x", "x").read_table()?;
/// assert_eq!((table.columns.observations(), table.dropped), (2, 1));
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Missing {
    /// Returns an error with the position of the first missing value.
    #[default]
    Refuse,
    /// Skips the observations with a missing value in a requested column.
    SkipRow,
    /// Replaces a missing value by this number. A missing category is an error.
    Fill(f64),
}

/// A reader of a text file, with or without gzip compression, into the leaves of a data set. [`csv()`] creates it.
///
/// One column becomes a leaf of rank 1. Several columns become a leaf of rank 2, in the given order.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-people.csv");
/// std::fs::write(&file, "age,height,color,label\n30,1.8,red,1\n41,1.6,blue,0\n")?;
/// let table = read::csv(&file)
///     .float("x", ["age", "height"])
///     .codes("color", "color")
///     .float("y", "label")
///     .read_table()?;
/// assert_eq!(table.columns.observations(), 2);
/// assert_eq!(table.levels("color"), Some(&["blue".to_owned(), "red".to_owned()][..]));
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
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
    leaves: Vec<Leaf>,
    part: Option<Part>,
}

/// A requested leaf.
#[derive(Clone, Debug)]
struct Leaf {
    name: String,
    fields: Fields,
    kind: Kind,
}

/// The cells of a leaf during reading.
struct LeafCells {
    /// The columns of the file.
    columns: Vec<usize>,
    cells: Cells,
}

/// The content of a text file.
///
/// # Examples
///
/// See [`Csv`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table {
    /// The observations.
    pub columns: Columns,
    /// The number of observations that were skipped because of missing values.
    pub dropped: usize,
    levels: Vec<(String, Vec<String>)>,
}

impl Table {
    /// Returns the levels of a leaf of categories, or `None` for another leaf. Code i or column i is that of
    /// `levels[i]`.
    pub fn levels(&self, leaf: &str) -> Option<&[String]> {
        self.levels.iter().find(|(name, _)| name == leaf).map(|(_, levels)| levels.as_slice())
    }
}

/// Creates a reader of the text table at `path`, with a header and commas between the fields. The file is opened by
/// [`Csv::read`].
///
/// # Examples
///
/// See [`Csv`].
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
        part: None,
    }
}

impl Csv {
    /// Reads the first line as an observation and not as a header. Columns are then selected by number, counted from 0.
    #[must_use]
    pub fn no_header(self) -> Self {
        Self { header: false, ..self }
    }

    /// Sets the separator between two fields. The default is a comma.
    #[must_use]
    pub fn separator(self, separator: Separator) -> Self {
        Self { format: Format { separator, ..self.format }, ..self }
    }

    /// Skips lines that start with this character. The default is not to skip lines.
    #[must_use]
    pub fn comment(self, start: u8) -> Self {
        Self { format: Format { comment: Some(start), ..self.format }, ..self }
    }

    /// Skips `count` lines before the header.
    #[must_use]
    pub fn skip_lines(self, count: u64) -> Self {
        Self { format: Format { skip: count, ..self.format }, ..self }
    }

    /// Sets the treatment of missing values. The default is an error.
    #[must_use]
    pub fn missing(self, policy: Missing) -> Self {
        Self { missing: policy, ..self }
    }

    /// Sets the texts of missing values. The defaults are the empty text, `NA`, `N/A` and `?`.
    #[must_use]
    pub fn missing_values<const N: usize>(self, tokens: [&str; N]) -> Self {
        Self { tokens: tokens.map(String::from).to_vec(), ..self }
    }

    /// Accepts NaN and infinite values.
    #[must_use]
    pub fn allow_non_finite(self) -> Self {
        Self { allow_non_finite: true, ..self }
    }

    /// Sets the memory limit of the content in bytes, see [`limit`](crate::limit).
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Sets the type of all float leaves. The default is `f32`.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Adds a float leaf.
    #[must_use]
    pub fn float(self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.with(leaf, columns.into(), Kind::Float)
    }

    /// Adds an integer leaf (`i64`).
    #[must_use]
    pub fn int(self, leaf: &str, columns: impl Into<Fields>) -> Self {
        self.with(leaf, columns.into(), Kind::Int)
    }

    /// Adds a leaf of integer codes 0, 1, … for the categories in one column. Categories are sorted by name, or by
    /// value if all are numbers.
    #[must_use]
    pub fn codes(self, leaf: &str, column: impl Into<Fields>) -> Self {
        self.with(leaf, column.into(), Kind::Codes(None))
    }

    /// Adds a leaf of integer codes with given levels, such as those of another file. Code i is `levels[i]`, and any
    /// other category is an error.
    #[must_use]
    pub fn codes_with_levels(self, leaf: &str, column: impl Into<Fields>, levels: &[String]) -> Self {
        self.with(leaf, column.into(), Kind::Codes(Some(levels.to_vec())))
    }

    /// Adds a float leaf with one column of zeros and ones for each category in one column, in the order of
    /// [`codes`](Self::codes).
    #[must_use]
    pub fn one_hot(self, leaf: &str, column: impl Into<Fields>) -> Self {
        self.with(leaf, column.into(), Kind::OneHot(None))
    }

    /// Adds a one-hot leaf with given levels, such as those of another file.
    #[must_use]
    pub fn one_hot_with_levels(self, leaf: &str, column: impl Into<Fields>, levels: &[String]) -> Self {
        self.with(leaf, column.into(), Kind::OneHot(Some(levels.to_vec())))
    }

    /// Reads only part number `index` of `count` parts of the file: the lines that begin in one of `count` ranges of bytes
    /// of the same length. The parts together are the file.
    ///
    /// The file must not be compressed, its fields must not contain line breaks, and the separator must be a byte. The levels of categories
    /// are given by [`codes_with_levels`](Self::codes_with_levels) or [`one_hot_with_levels`](Self::one_hot_with_levels), because a part need not have all of them.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::storage::read;
    ///
    /// let file = std::env::temp_dir().join("sgmcmc-doc-parts.csv");
    /// std::fs::write(&file, "x\n1\n2\n3\n4\n5\n")?;
    /// let parts: Vec<usize> = (0..2)
    ///     .map(|index| Ok(read::csv(&file).float("x", "x").part(index, 2).read()?.observations()))
    ///     .collect::<sgmcmc::Result<_>>()?;
    /// assert_eq!(parts.iter().sum::<usize>(), 5);
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn part(self, index: usize, count: usize) -> Self {
        Self { part: Some(Part { index: index as u64, count: count as u64 }), ..self }
    }

    /// Checks that all parts have the same levels of categories.
    fn check_part(&self) -> Result<()> {
        let unknown = |leaf: &&Leaf| matches!(leaf.kind, Kind::Codes(None) | Kind::OneHot(None));
        match self.leaves.iter().find(unknown) {
            Some(leaf) if self.part.is_some() => {
                let value = format!("those of leaf `{}` are those of the part", leaf.name);
                let range = "give the levels by `codes_with_levels` or `one_hot_with_levels`".into();
                Err(Error::file(&self.path, Problem::OutOfRange { what: "the levels of categories", value, range }))
            }
            _ => Ok(()),
        }
    }

    fn with(mut self, leaf: &str, columns: Fields, kind: Kind) -> Self {
        self.leaves.push(Leaf { name: leaf.into(), fields: columns, kind });
        self
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// Returns an error with file, line and column if the file is missing, empty, truncated or damaged, a requested
    /// column does not exist, rows have different lengths, or a field is text in place of a number, NaN, infinite,
    /// missing, or not one of the levels.
    pub fn read(&self) -> Result<Columns> {
        self.read_table().map(|table| table.columns)
    }

    /// Reads the file like [`read`](Self::read), and returns the levels of categories and the number of skipped
    /// observations.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`read`](Self::read).
    pub fn read_table(&self) -> Result<Table> {
        let path = self.path.as_path();
        self.check_part()?;
        let mut records = Records::open(path, self.format, self.part, self.header, self.limit)?;
        let Some(first) = records.next()? else { return Err(Error::file(path, Problem::Empty)) };
        let names =
            self.header.then(|| first.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into()).collect());
        let heading = Heading { names, count: first.len() };
        let mut leaves =
            self.leaves.iter().map(|leaf| self.start(leaf, &heading, &records)).collect::<Result<Vec<_>>>()?;
        let mut more = !self.header || records.next()?.is_some();
        let (mut rows, mut dropped) = (0, 0);
        while more {
            if self.push_record(&records, &heading, &mut leaves)? {
                rows += 1;
            } else {
                leaves.iter_mut().for_each(|leaf| leaf.cells.truncate(rows * leaf.columns.len()));
                dropped += 1;
            }
            let used = leaves.iter().map(|leaf| leaf.cells.bytes()).sum();
            records.set_used(used)?;
            more = records.next()?.is_some();
        }
        if rows == 0 {
            return Err(Error::file(path, Problem::Empty));
        }
        let (mut columns, mut levels) = (Vec::new(), Vec::new());
        for (Leaf { name, .. }, LeafCells { columns: numbers, cells }) in self.leaves.iter().zip(leaves) {
            if cells.finished_bytes() > self.limit {
                return Err(Error::file(path, exceeded(self.limit)));
            }
            let finished = cells.finish(name, numbers.len(), self.precision).map_err(Error::content(path))?;
            columns.push(finished.0);
            levels.extend(finished.1.map(|names| (name.clone(), names)));
        }
        // Values that are not finite were found while reading, with their line.
        let columns = checked(Columns::from(columns).allow_non_finite(), path)?;
        Ok(Table { columns, dropped, levels })
    }

    /// Finds the columns of a leaf.
    fn start(&self, leaf: &Leaf, heading: &Heading, records: &Records<'_>) -> Result<LeafCells> {
        let Leaf { name, fields, kind } = leaf;
        let columns = heading.find(fields, &self.path, records.line())?;
        let categories = matches!(kind, Kind::Codes(_) | Kind::OneHot(_));
        if columns.is_empty() || (categories && columns.len() > 1) {
            let range = if categories { "categories come from one column" } else { "a leaf needs a column" };
            let problem = Problem::OutOfRange {
                what: "the number of columns",
                value: columns.len().to_string(),
                range: format!("{range} (leaf `{name}`)"),
            };
            return Err(Error::file(&self.path, problem));
        }
        Ok(LeafCells { columns, cells: Cells::new(kind, self.precision) })
    }

    /// Appends the current record, or returns `false` if the record is to be skipped.
    fn push_record(&self, records: &Records<'_>, heading: &Heading, leaves: &mut [LeafCells]) -> Result<bool> {
        let record = records.current();
        if record.len() != heading.count {
            let problem = Problem::Ragged { found: record.len(), expected: heading.count };
            return Err(Error::at_position(&self.path, FilePosition::line(records.line()), problem));
        }
        for LeafCells { columns, cells } in leaves {
            for number in columns.iter() {
                let text = record[*number].trim_ascii();
                let pushed = match (cells.push(text, &self.tokens, self.allow_non_finite), self.missing) {
                    (Err(CellError::Missing), Missing::SkipRow) => return Ok(false),
                    (Err(CellError::Missing), Missing::Fill(value)) => cells.fill(value, self.allow_non_finite),
                    (pushed, _) => pushed,
                };
                pushed.map_err(|error| {
                    let problem = match error {
                        CellError::Missing => Problem::Missing { text: String::from_utf8_lossy(text).into() },
                        CellError::Wrong(problem) => problem,
                    };
                    Error::at_position(
                        &self.path,
                        FilePosition::line(records.line()).column(heading.label(*number)),
                        problem,
                    )
                })?;
            }
        }
        Ok(true)
    }
}
