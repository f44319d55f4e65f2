//! Errors of files. Messages name the file, the position in it and the problem.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sgmcmc_gradient::text::printable;

/// The result of the fallible functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the storage crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A problem of a file, with its position.
    #[error(transparent)]
    File(Box<FileError>),

    /// The content of a file was read but is not a valid data set.
    #[error("{}: {source}", shown(file))]
    Content {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: sgmcmc_gradient::Error,
    },

    /// A named data set is not in the directory that was searched.
    #[error("the data set {name} is not here: searched for {}; get it from {from}, or use `{synthetic}`", shown(file))]
    Absent {
        /// The data set.
        name: &'static str,
        /// The file that was searched for.
        file: PathBuf,
        /// The source of the data set, in words.
        from: &'static str,
        /// The function that simulates data of the same shape.
        synthetic: &'static str,
    },

    /// An error of the gradient crate.
    #[error(transparent)]
    Gradient(#[from] sgmcmc_gradient::Error),
}

impl Error {
    /// Creates an error about a whole file.
    pub fn file(file: &Path, problem: Problem) -> Self {
        Self::at_position(file, FilePosition::default(), problem)
    }

    /// Creates an error about a position in a file.
    pub fn at_position(file: &Path, position: FilePosition, problem: Problem) -> Self {
        Self::File(Box::new(FileError { file: file.into(), position, problem }))
    }

    /// Returns a function that adds the name of the file to an error about data.
    pub fn content(file: &Path) -> impl FnOnce(sgmcmc_gradient::Error) -> Self {
        let file = file.to_path_buf();
        move |source| Self::Content { file, source }
    }
}

/// A problem of a file, with its position.
#[derive(Debug, thiserror::Error)]
#[error("{}{position}: {problem}", shown(file))]
pub struct FileError {
    /// The file.
    pub file: PathBuf,
    /// The position in the file.
    pub position: FilePosition,
    /// The problem.
    pub problem: Problem,
}

/// A position in a file, as far as it is known.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::FilePosition;
///
/// assert_eq!(FilePosition::line(3).column("age").to_string(), ", line 3, column `age`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilePosition {
    /// The line of a text file, counted from 1.
    pub line: Option<u64>,
    /// The observation, counted from 0.
    pub row: Option<u64>,
    /// The byte of a binary file, counted from 0.
    pub byte: Option<u64>,
    /// The name of the column, member or leaf, or its number, counted from 0.
    pub column: Option<String>,
}

impl FilePosition {
    /// Creates the position of a line, counted from 1.
    pub fn line(line: u64) -> Self {
        Self { line: Some(line), ..Self::default() }
    }

    /// Creates the position of an observation, counted from 0.
    pub fn row(row: u64) -> Self {
        Self { row: Some(row), ..Self::default() }
    }

    /// Creates the position of a byte, counted from 0.
    pub fn byte(byte: u64) -> Self {
        Self { byte: Some(byte), ..Self::default() }
    }

    /// Returns the position with a column.
    #[must_use]
    pub fn column(self, column: impl Into<String>) -> Self {
        Self { column: Some(column.into()), ..self }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(byte) = self.byte {
            write!(f, ", byte {byte}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{}`", printable(column))?;
        }
        Ok(())
    }
}

/// A problem of a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An error of the operating system.
    #[error("{0}")]
    Io(#[from] io::Error),

    /// A data file without observations.
    #[error("there is no observation in it")]
    Empty,

    /// A document without words, counted from 1.
    #[error("document {document} has no words: remove it, or keep such documents with `allow_empty`")]
    EmptyDocument {
        /// The number of the document, counted from 1.
        document: u64,
    },

    /// A fit without draws.
    #[error("there is no draw in it: it is empty, or the run was killed before its first flush")]
    NoDraws,

    /// Content that has none of the formats of fits.
    #[error("this is not a fit: its content has none of the formats {formats}, in a file or a directory of files")]
    UnknownFormat {
        /// The names of the formats.
        formats: String,
    },

    /// A format that is written for other programs only.
    #[error("{format} files are written for other programs and are not read: keep the fit as .sgmcmc, too")]
    WriteOnly {
        /// The name of the format.
        format: &'static str,
    },

    /// A name whose extension belongs to no format.
    #[error("the name stands for no format: let it end in {extensions}")]
    UnknownExtension {
        /// The extensions of the formats.
        extensions: String,
    },

    /// A format that is not compiled in.
    #[error(
        "this format needs the cargo feature `{feature}`: build with it, or convert the fit with a build that has it"
    )]
    FeatureOff {
        /// The cargo feature to enable.
        feature: &'static str,
    },

    /// A directory that has files in it.
    #[error("the directory is not empty: remove it, or choose another name")]
    NotEmpty,

    /// A directory that is not replaced, because this library did not write all files in it.
    #[error("the directory is not replaced, {detail}: choose another name, or remove it yourself")]
    Foreign {
        /// A description of the other file.
        detail: String,
    },

    /// A row with a different number of fields than the first row.
    #[error("{found} fields where the first row has {expected}")]
    Ragged {
        /// The number of fields in this row.
        found: usize,
        /// The number of fields in the first row.
        expected: usize,
    },

    /// Text in place of a number.
    #[error("`{text}` is not {expected}")]
    NotANumber {
        /// The text that was found.
        text: String,
        /// A description of valid content.
        expected: &'static str,
    },

    /// A value that is NaN or infinite.
    #[error("the value is {text}: remove or impute it (or accept it with `allow_non_finite`)")]
    NotFinite {
        /// The text that was found.
        text: String,
    },

    /// A missing value.
    #[error("the value is missing (`{text}`): choose what to do with `missing`, or remove the row")]
    Missing {
        /// The text that was found.
        text: String,
    },

    /// A requested column that is not in the file.
    #[error("there is no column `{name}`: the columns are {known}")]
    UnknownColumn {
        /// The name that was requested.
        name: String,
        /// The names of the columns.
        known: String,
    },

    /// Two columns of the same name.
    #[error("two columns are called `{name}`: select them by number")]
    RepeatedColumn {
        /// The name.
        name: String,
    },

    /// A category that is not one of the given levels.
    #[error("`{text}` is none of the levels {levels:?}")]
    UnknownLevel {
        /// The text that was found.
        text: String,
        /// The given levels.
        levels: Vec<String>,
    },

    /// A number outside its range.
    #[error("{what} {value} is out of range: {range}")]
    OutOfRange {
        /// A description of the number.
        what: &'static str,
        /// The value.
        value: String,
        /// A description of the valid range.
        range: String,
    },

    /// A truncated file.
    #[error("the file is truncated: {detail}")]
    Truncated {
        /// The expected and the actual content.
        detail: String,
    },

    /// A damaged file, or a file of another format.
    #[error("the file is corrupt or of another format: {detail}")]
    Corrupt {
        /// A description of the damage.
        detail: String,
    },

    /// An element type that is not supported.
    #[error("the element type is {found}: {expected}")]
    WrongType {
        /// The type that was found.
        found: String,
        /// A description of the supported types.
        expected: &'static str,
    },

    /// Rows to be appended that do not match the rows in the file.
    #[error("these rows do not fit the first ones: {detail}")]
    MismatchedChunk {
        /// A description of the difference.
        detail: String,
    },

    /// Content that exceeds the memory limit.
    #[error("{detail}")]
    TooLarge {
        /// The size, the limit and the remedy.
        detail: String,
    },
}

impl Problem {
    /// Classifies an I/O error of a reader as truncation, damage or an error of the operating system.
    pub fn reading(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated { detail: error.to_string() },
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Self::Corrupt { detail: error.to_string() },
            _ => Self::Io(error),
        }
    }

    /// Creates the problem of text in place of a number. The text is shortened to fit a message.
    pub fn not_a_number(text: &[u8], expected: &'static str) -> Self {
        Self::NotANumber { text: shortened(text), expected }
    }
}

/// Returns a path as text, with control characters escaped.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// Returns text from a file, shortened and escaped to fit in one line.
pub fn shortened(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]);
    let shown: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().count() > LONGEST { shown + "…" } else { shown }
}
