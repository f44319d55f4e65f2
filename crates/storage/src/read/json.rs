//! JSON data as Stan reads them: one object whose members are numbers or arrays of numbers.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use sgmcmc_gradient::Columns;
use sgmcmc_gradient::data::{Column, Values};

use super::checked;
use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::{Budget, LINE_SHARE, memory_limit};
use crate::source::{Metered, open};

/// The smallest limit on the bytes from one name or number to the next.
const SHORTEST_ALLOWANCE: u64 = 1 << 12;

/// The content of a JSON file of data: numbers and arrays by name.
///
/// # Examples
///
/// ```
/// use sgmcmc::IntoDataset;
/// use sgmcmc::storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-data.json");
/// std::fs::write(&file, r#"{ "N": 3, "school": [1, 2, 1], "y": [0.5, 1.5, -1.0] }"#)?;
/// let data = read::json(&file)?;
/// assert_eq!(data.number("N")?, 3.0);
/// let columns = data.to_zero_based(&["school"])?.columns(&["school", "y"])?;    // indices count from 0 here
/// assert_eq!(columns.get("school")?.numbers().collect::<Vec<_>>(), [0.0, 1.0, 0.0]);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JsonData {
    path: PathBuf,
    members: Vec<Member>,
}

/// A number or an array.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    name: String,
    /// Empty for a number.
    shape: Vec<usize>,
    values: Vec<f64>,
    /// True if no number has a fraction or an exponent.
    integers: bool,
}

/// Reads a JSON object of numbers and rectangular arrays of numbers, with or without gzip compression. This is the format
/// of Stan's data files.
///
/// # Errors
///
/// Returns an error with file, line and member if the file is missing, truncated or damaged, is not such an object, has an
/// array whose rows differ in length, or exceeds the memory limit.
///
/// # Examples
///
/// See [`JsonData`].
pub fn json(path: impl AsRef<Path>) -> Result<JsonData> {
    json_within(path, memory_limit())
}

/// Reads a JSON file like [`json`], within a limit on the memory of the numbers in bytes.
///
/// # Errors
///
/// Returns an error in the cases of [`json`].
pub fn json_within(path: impl AsRef<Path>, limit: u64) -> Result<JsonData> {
    let path = path.as_ref();
    let longest = (limit / LINE_SHARE).max(SHORTEST_ALLOWANCE);
    let allowance = Rc::new(Cell::new(longest));
    let state = State {
        budget: RefCell::new(Budget::new(limit)),
        problem: RefCell::default(),
        member: RefCell::default(),
        longest,
        allowance: Rc::clone(&allowance),
    };
    let mut reader = serde_json::Deserializer::from_reader(Metered::new(open(path)?, allowance));
    let members = Object { state: &state }.deserialize(&mut reader).and_then(|members| reader.end().map(|()| members));
    let members = members.map_err(|error| {
        let name = state.member.take();
        let line = (error.line() > 0).then_some(error.line() as u64);
        let position = FilePosition { line, column: (!name.is_empty()).then_some(name), ..FilePosition::default() };
        let problem = state.problem.take().unwrap_or_else(|| match error.classify() {
            serde_json::error::Category::Io if state.allowance.get() == 0 => state.budget.borrow().exceeded(),
            serde_json::error::Category::Io => Problem::reading(error.into()),
            serde_json::error::Category::Eof => Problem::Truncated { detail: error.to_string() },
            _ => Problem::Corrupt { detail: error.to_string() },
        });
        Error::at_position(path, position, problem)
    })?;
    Ok(JsonData { path: path.into(), members })
}

impl JsonData {
    /// Returns the names of the numbers and arrays, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// Returns the number `name`, such as the number of groups.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such member, or if it is an array.
    pub fn number(&self, name: &str) -> Result<f64> {
        let member = self.member(name)?;
        if !member.shape.is_empty() {
            return Err(self.wrong_type(name, "an array", "a number is expected: read arrays with `columns`"));
        }
        Ok(member.values.first().copied().unwrap_or(f64::NAN))
    }

    /// Returns the shape of the member `name`, which is empty for a number.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such member.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        self.member(name).map(|member| member.shape.as_slice())
    }

    /// Returns the numbers of the member `name` in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such member.
    pub fn values(&self, name: &str) -> Result<&[f64]> {
        self.member(name).map(|member| member.values.as_slice())
    }

    /// Returns the arrays `names` as leaves. The first axis of each array is the observation. An array of integers becomes
    /// `i64`, and other arrays `f64`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such array, if arrays have different numbers of observations, or if a value is not
    /// finite.
    pub fn columns(&self, names: &[&str]) -> Result<Columns> {
        let column = |name: &&str| {
            let member = self.member(name)?;
            let row_shape = member.shape.get(1..).ok_or_else(|| {
                self.wrong_type(name, "a number", "an array with one entry per observation is expected: see `number`")
            })?;
            let values = if member.integers {
                Values::from(member.values.iter().map(|value| *value as i64).collect::<Vec<_>>())
            } else {
                Values::from(member.values.clone())
            };
            let column = Column::new(*name, values, row_shape).map_err(Error::content(&self.path))?;
            column.check_finite().map_err(Error::content(&self.path))?;
            Ok(column)
        };
        checked(names.iter().map(column).collect::<Result<Vec<_>>>()?.into(), &self.path)
    }

    /// Returns these data with the integers of `names` reduced by one, because indices count from one in Stan and from zero
    /// here.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such member, or if it has a number that is not an integer from one.
    pub fn to_zero_based(mut self, names: &[&str]) -> Result<Self> {
        for name in names {
            let member = self.member(name)?;
            if let Some(row) = member.values.iter().position(|value| *value < 1.0 || value.fract().abs() > 0.0) {
                let position = FilePosition { column: Some((*name).into()), ..FilePosition::row(row as u64) };
                let (what, value) = ("the index", member.values[row].to_string());
                let range = "indices of Stan are whole numbers from 1".into();
                return Err(Error::at_position(&self.path, position, Problem::OutOfRange { what, value, range }));
            }
            for member in self.members.iter_mut().filter(|member| member.name == *name) {
                member.values.iter_mut().for_each(|value| *value -= 1.0);
                member.integers = true;
            }
        }
        Ok(self)
    }

    fn member(&self, name: &str) -> Result<&Member> {
        self.members.iter().find(|member| member.name == name).ok_or_else(|| {
            let known = self.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            Error::file(&self.path, Problem::UnknownColumn { name: name.to_owned(), known })
        })
    }

    fn wrong_type(&self, name: &str, found: &str, expected: &'static str) -> Error {
        let position = FilePosition::default().column(name);
        Error::at_position(&self.path, position, Problem::WrongType { found: found.into(), expected })
    }
}

/// The length of an axis before its first row has been read.
const UNKNOWN: usize = usize::MAX;

/// The largest integer that double precision represents exactly, together with all smaller ones.
const EXACT: u64 = 1 << 53;

/// The state of a read.
struct State {
    budget: RefCell<Budget>,
    /// A problem that is not one of JSON.
    problem: RefCell<Option<Problem>>,
    /// The name of the member that is read.
    member: RefCell<String>,
    /// The maximal number of bytes from one name or number to the next.
    longest: u64,
    /// The bytes that may be read before the next name or number.
    allowance: Rc<Cell<u64>>,
}

impl State {
    /// Counts `bytes` of memory of a name or a number, and allows for the next one.
    fn take<E: serde::de::Error>(&self, bytes: u64) -> Result<(), E> {
        self.allowance.set(self.longest);
        self.budget.borrow_mut().take(bytes).map_err(|problem| {
            self.problem.replace(Some(problem));
            E::custom("the memory limit")
        })
    }
}

/// Reads the object.
struct Object<'a> {
    state: &'a State,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Vec<Member>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Member>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Vec<Member>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of numbers and arrays, such as {\"N\": 2, \"y\": [0.5, 1.5]}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Member>, A::Error> {
        let (mut members, mut names): (Vec<Member>, HashSet<String>) = Default::default();
        while let Some(name) = map.next_key::<String>()? {
            self.state.take((size_of::<Member>() + size_of::<String>() + 2 * name.len()) as u64)?;
            self.state.member.replace(name.clone());
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("there are two members `{name}`")));
            }
            let mut member = Member { name, shape: Vec::new(), values: Vec::new(), integers: true };
            map.next_value_seed(Numbers { member: &mut member, state: self.state, depth: 0 })?;
            members.push(member);
        }
        self.state.member.replace(String::new());
        Ok(members)
    }
}

/// Reads a number, or an array at a depth.
struct Numbers<'a> {
    member: &'a mut Member,
    state: &'a State,
    depth: usize,
}

impl Numbers<'_> {
    fn push<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        // The first number is at the depth of all others.
        if self.member.shape.len() != self.depth {
            return Err(E::custom("a number among arrays: the rows of an array have equal shapes"));
        }
        self.state.take(size_of::<f64>() as u64)?;
        self.member.values.push(value);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Numbers<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an array of numbers")
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        if value.unsigned_abs() > EXACT {
            return Err(E::custom(format!("the integer {value} is larger than 2^53")));
        }
        self.push(value as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        if value > EXACT {
            return Err(E::custom(format!("the integer {value} is larger than 2^53")));
        }
        self.push(value as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.member.integers = false;
        self.push(value)
    }

    /// Stan writes numbers that JSON does not have as text.
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        let value = match text {
            "NaN" => f64::NAN,
            "Inf" | "+Inf" | "Infinity" => f64::INFINITY,
            "-Inf" | "-Infinity" => f64::NEG_INFINITY,
            _ => return Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        };
        self.member.integers = false;
        self.push(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let Self { member, state, depth } = self;
        let first = member.values.is_empty();
        if member.shape.len() <= depth {
            if !first {
                return Err(A::Error::custom("an array among numbers: the rows of an array have equal shapes"));
            }
            member.shape.push(UNKNOWN);
        }
        let mut length = 0;
        while sequence.next_element_seed(Numbers { member: &mut *member, state, depth: depth + 1 })?.is_some() {
            length += 1;
        }
        match member.shape[depth] {
            UNKNOWN => member.shape[depth] = length,
            expected if expected == length => {}
            expected => {
                let message = format!("a row of length {length} where the first one has {expected}");
                return Err(A::Error::custom(message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
