//! The selection of the columns of a leaf.

use std::ops::Range;
use std::path::Path;

use crate::error::{Error, FilePosition, Problem, Result};

/// A selection of columns by name or by number, counted from 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read::Fields;
///
/// let one: Fields = "age".into();
/// let several: Fields = ["age", "height"].into();
/// let numbers: Fields = (0..3).into();
/// assert_eq!(numbers, Fields::Numbers(vec![0, 1, 2]));
/// # let _ = (one, several);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fields {
    /// Columns by the names in the header.
    Names(Vec<String>),
    /// Columns by number, counted from 0.
    Numbers(Vec<usize>),
}

impl From<&str> for Fields {
    fn from(name: &str) -> Self {
        Self::Names(vec![name.into()])
    }
}

impl<const N: usize> From<[&str; N]> for Fields {
    fn from(names: [&str; N]) -> Self {
        Self::Names(names.map(String::from).to_vec())
    }
}

impl From<Vec<String>> for Fields {
    fn from(names: Vec<String>) -> Self {
        Self::Names(names)
    }
}

impl From<usize> for Fields {
    fn from(number: usize) -> Self {
        Self::Numbers(vec![number])
    }
}

impl<const N: usize> From<[usize; N]> for Fields {
    fn from(numbers: [usize; N]) -> Self {
        Self::Numbers(numbers.to_vec())
    }
}

impl From<Vec<usize>> for Fields {
    fn from(numbers: Vec<usize>) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<Range<usize>> for Fields {
    fn from(numbers: Range<usize>) -> Self {
        Self::Numbers(numbers.collect())
    }
}

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Heading {
    /// The names, if the file has a header.
    pub(super) names: Option<Vec<String>>,
    /// The number of columns.
    pub(super) count: usize,
}

impl Heading {
    /// Returns the numbers of the requested columns.
    ///
    /// # Errors
    ///
    /// Returns an error if a column does not exist or a name is ambiguous.
    pub(super) fn find(&self, fields: &Fields, path: &Path, line: u64) -> Result<Vec<usize>> {
        let unknown = |name: String| {
            let known = match &self.names {
                Some(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
                None => format!("0 to {}, there being no header", self.count.saturating_sub(1)),
            };
            Error::at_position(path, FilePosition::line(line), Problem::UnknownColumn { name, known })
        };
        match fields {
            Fields::Numbers(numbers) => match numbers.iter().find(|number| **number >= self.count) {
                Some(number) => Err(unknown(number.to_string())),
                None => Ok(numbers.clone()),
            },
            Fields::Names(requested) => requested
                .iter()
                .map(|name| {
                    let known = self.names.iter().flatten().enumerate();
                    let mut positions = known.filter(|(_, known)| *known == name).map(|(number, _)| number);
                    match (positions.next(), positions.next()) {
                        (Some(number), None) => Ok(number),
                        (Some(_), Some(_)) => Err(Error::at_position(
                            path,
                            FilePosition::line(line),
                            Problem::RepeatedColumn { name: name.clone() },
                        )),
                        _ => Err(unknown(name.clone())),
                    }
                })
                .collect(),
        }
    }

    /// Returns the name of column `number`, or the number if there is no header.
    pub(super) fn label(&self, number: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(number)) {
            Some(name) => name.clone(),
            None => number.to_string(),
        }
    }
}
