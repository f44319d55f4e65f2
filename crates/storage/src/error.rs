//! What can be wrong with a file, named so that the message alone tells where to look.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sgmcmc_core::text::printable;

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every error of the storage crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something is wrong with a file, at a place that is named.
    #[error(transparent)]
    File(Box<FileError>),

    /// The content of a file was read but makes no data set.
    #[error("{}: {source}", shown(file))]
    Content {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: sgmcmc_core::Error,
    },

    /// A well-known data set is not where it was looked for.
    #[error("the data set {name} is not here: looked for {}; get it from {from}, or use `{synthetic}`", shown(file))]
    Absent {
        /// The data set.
        name: &'static str,
        /// The file that was looked for.
        file: PathBuf,
        /// Where it is published, in words.
        from: &'static str,
        /// The function that makes data of the same shape.
        synthetic: &'static str,
    },

    /// An error of the core crate.
    #[error(transparent)]
    Core(#[from] sgmcmc_core::Error),
}

impl Error {
    /// A problem of the file as a whole.
    pub(crate) fn file(file: &Path, problem: Problem) -> Self {
        Self::at(file, Place::default(), problem)
    }

    pub(crate) fn at(file: &Path, place: Place, problem: Problem) -> Self {
        Self::File(Box::new(FileError { file: file.into(), place, problem }))
    }

    pub(crate) fn content(file: &Path) -> impl FnOnce(sgmcmc_core::Error) -> Self {
        let file = file.to_path_buf();
        move |source| Self::Content { file, source }
    }
}

/// A file, a place in it, and what is wrong there.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}: {problem}", shown(file))]
pub struct FileError {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub problem: Problem,
}

/// A place in a file, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The line of a text file, counting from 1.
    pub line: Option<u64>,
    /// The observation, counting from 0 as everywhere in this library.
    pub row: Option<u64>,
    /// The byte of a binary file, counting from 0.
    pub byte: Option<u64>,
    /// The column, member or leaf: its name, or its number counting from 0.
    pub column: Option<String>,
}

impl Place {
    pub(crate) fn line(line: u64) -> Self {
        Self { line: Some(line), ..Self::default() }
    }

    pub(crate) fn row(row: u64) -> Self {
        Self { row: Some(row), ..Self::default() }
    }

    pub(crate) fn byte(byte: u64) -> Self {
        Self { byte: Some(byte), ..Self::default() }
    }

    pub(crate) fn column(self, column: impl Into<String>) -> Self {
        Self { column: Some(column.into()), ..self }
    }
}

impl fmt::Display for Place {
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

/// What is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),

    /// Nothing to read.
    #[error("there is no observation in it")]
    Empty,

    /// A fit without draws.
    #[error("there is no draw in it: it is empty, or the run was killed before its first flush")]
    NoDraws,

    /// None of the formats of fits.
    #[error(
        "this is no fit: its content is none of .sgmcmc, JSON, Stan CSV, Parquet and Zarr, as files or a directory of files"
    )]
    UnknownFormat,

    /// A name that stands for no format.
    #[error("the name stands for no format: let it end in .sgmcmc, .json, .csv, .parquet or .zarr")]
    UnknownEnding,

    /// A format that was not built in.
    #[error("this format needs the cargo feature `{feature}`: build with it, or convert the fit where it was built in")]
    FeatureOff {
        /// The feature.
        feature: &'static str,
    },

    /// A directory that is in use.
    #[error("the directory is not empty: remove it, or choose another name")]
    NotEmpty,

    /// A directory that is not replaced, because there is something else in it.
    #[error("the directory is not replaced, {detail}: choose another name, or remove it yourself")]
    Foreign {
        /// What is in it.
        detail: String,
    },

    /// A row with another number of fields than the first.
    #[error("{found} fields where the first row has {expected}")]
    Ragged {
        /// Fields in this row.
        found: usize,
        /// Fields in the first row.
        expected: usize,
    },

    /// Text where a number belongs.
    #[error("`{text}` is not {expected}")]
    NotANumber {
        /// What is there.
        text: String,
        /// What should be there.
        expected: &'static str,
    },

    /// NaN or infinity.
    #[error("the value is {text}: remove or impute it (or accept it with `allow_non_finite`)")]
    NotFinite {
        /// What is there.
        text: String,
    },

    /// A missing value.
    #[error("the value is missing (`{text}`): choose what to do with `missing`, or remove the row")]
    Missing {
        /// What is there.
        text: String,
    },

    /// A column that is not in the file.
    #[error("there is no column `{name}`: the columns are {known}")]
    UnknownColumn {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },

    /// Two columns of the same name.
    #[error("two columns are called `{name}`: ask for them by number")]
    RepeatedColumn {
        /// The name.
        name: String,
    },

    /// A category that is none of the levels given.
    #[error("`{text}` is none of the levels {levels:?}")]
    UnknownLevel {
        /// What is there.
        text: String,
        /// The levels given.
        levels: Vec<String>,
    },

    /// A number outside its range.
    #[error("{what} {value} is out of range: {range}")]
    OutOfRange {
        /// What number.
        what: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        range: String,
    },

    /// The file ends too early.
    #[error("the file is truncated: {detail}")]
    Truncated {
        /// What was expected and what is there.
        detail: String,
    },

    /// The file is not what it should be.
    #[error("the file is corrupt or of another format: {detail}")]
    Corrupt {
        /// What is wrong.
        detail: String,
    },

    /// An element type that does not fit.
    #[error("the element type is {found}: {expected}")]
    WrongType {
        /// The type found.
        found: String,
        /// The types that fit.
        expected: &'static str,
    },

    /// Rows to be appended that differ from those already there.
    #[error("these rows do not fit the first ones: {detail}")]
    Chunk {
        /// What differs.
        detail: String,
    },

    /// Something would not fit in memory.
    #[error("{detail}")]
    TooLarge {
        /// What, how much, and what to do instead.
        detail: String,
    },
}

impl Problem {
    /// Damage of a compressed stream told apart from refusals of the operating system.
    pub(crate) fn reading(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Truncated { detail: error.to_string() },
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Self::Corrupt { detail: error.to_string() },
            _ => Self::Io(error),
        }
    }

    /// Text where a number belongs, shortened to fit a message.
    pub(crate) fn not_a_number(text: &[u8], expected: &'static str) -> Self {
        Self::NotANumber { text: shortened(text), expected }
    }
}

/// A path as it can be shown, control characters escaped.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// Text from a file as it can be shown in one line.
pub(crate) fn shortened(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * LONGEST)]);
    let shown: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().count() > LONGEST { shown + "…" } else { shown }
}
