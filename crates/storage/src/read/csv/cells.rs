//! The cells of one leaf while a text file is read.

use std::collections::HashMap;

use sgmcmc_gradient::Precision;
use sgmcmc_gradient::data::{Column, Values};

use crate::error::{Problem, shortened};

/// The kind of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Int,
    /// Categories as integer codes, with the levels if they are given.
    Codes(Option<Vec<String>>),
    /// Categories as one column per level.
    OneHot(Option<Vec<String>>),
}

/// The error of a cell.
pub(super) enum CellError {
    /// The cell is missing.
    Missing,
    /// The cell is invalid.
    Wrong(Problem),
}

/// The cells of a leaf.
#[derive(Debug)]
pub(super) enum Cells {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I64(Vec<i64>),
    Levels(Levels),
}

/// Categories, numbered in the order of their first occurrence.
#[derive(Debug)]
pub(super) struct Levels {
    codes: Vec<usize>,
    known: HashMap<Vec<u8>, usize>,
    names: Vec<String>,
    given: bool,
    one_hot: bool,
    /// The memory of the names of levels in bytes.
    name_bytes: usize,
}

impl Cells {
    pub(super) fn new(kind: &Kind, precision: Precision) -> Self {
        let levels = |given: &Option<Vec<String>>, one_hot| {
            let names = given.clone().unwrap_or_default();
            let known = names.iter().enumerate().map(|(code, name)| (name.clone().into_bytes(), code)).collect();
            Self::Levels(Levels { codes: Vec::new(), known, names, given: given.is_some(), one_hot, name_bytes: 0 })
        };
        match (kind, precision) {
            (Kind::Float, Precision::Single) => Self::F32(Vec::new()),
            (Kind::Float, Precision::Double) => Self::F64(Vec::new()),
            (Kind::Int, _) => Self::I64(Vec::new()),
            (Kind::Codes(given), _) => levels(given, false),
            (Kind::OneHot(given), _) => levels(given, true),
        }
    }

    /// Appends the text of a cell.
    pub(super) fn push(&mut self, text: &[u8], missing: &[String], allow_non_finite: bool) -> Result<(), CellError> {
        let is_missing = || missing.iter().any(|token| token.as_bytes() == text);
        let wrong = |expected| match is_missing() {
            true => CellError::Missing,
            false => CellError::Wrong(Problem::not_a_number(text, expected)),
        };
        let finite = |value: f64| {
            if value.is_finite() || allow_non_finite {
                Ok(())
            } else if is_missing() {
                Err(CellError::Missing)
            } else {
                Err(CellError::Wrong(Problem::NotFinite { text: shortened(text) }))
            }
        };
        match self {
            Self::F32(values) => {
                let value = match short_integer(text) {
                    Some(value) => value as f32,
                    None => parse::<f32>(text).ok_or_else(|| wrong("a number"))?,
                };
                finite(f64::from(value))?;
                values.push(value);
            }
            Self::F64(values) => {
                let value = match short_integer(text) {
                    Some(value) => f64::from(value),
                    None => parse::<f64>(text).ok_or_else(|| wrong("a number"))?,
                };
                finite(value)?;
                values.push(value);
            }
            Self::I64(values) => values.push(parse(text).ok_or_else(|| wrong("an integer"))?),
            Self::Levels(levels) if is_missing() && !levels.known.contains_key(text) => return Err(CellError::Missing),
            Self::Levels(levels) => levels.push(text).map_err(CellError::Wrong)?,
        }
        Ok(())
    }

    /// Appends a number in place of a missing cell.
    ///
    /// # Errors
    ///
    /// Returns an error if the leaf has categories, or if it has integers and the number is not one.
    pub(super) fn fill(&mut self, value: f64, allow_non_finite: bool) -> Result<(), CellError> {
        let text = || value.to_string();
        match self {
            Self::Levels(_) => return Err(CellError::Missing),
            Self::I64(_) if value.fract().abs() > 0.0 || !value.is_finite() => {
                let problem = Problem::NotANumber { text: text(), expected: "an integer to fill an integer leaf with" };
                return Err(CellError::Wrong(problem));
            }
            _ if !value.is_finite() && !allow_non_finite => {
                return Err(CellError::Wrong(Problem::NotFinite { text: text() }));
            }
            Self::F32(values) => values.push(value as f32),
            Self::F64(values) => values.push(value),
            Self::I64(values) => values.push(value as i64),
        }
        Ok(())
    }

    /// Returns the memory of the cells in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::F32(values) => size_of_val(values.as_slice()),
            Self::F64(values) => size_of_val(values.as_slice()),
            Self::I64(values) => size_of_val(values.as_slice()),
            Self::Levels(levels) => size_of_val(levels.codes.as_slice()) + levels.name_bytes,
        };
        bytes as u64
    }

    /// Returns the memory of the finished leaf in bytes. A one-hot leaf has one column for each level.
    pub(super) fn finished_bytes(&self) -> u64 {
        match self {
            Self::Levels(levels) if levels.one_hot => {
                (levels.codes.len() as u64).saturating_mul(levels.names.len() as u64).saturating_mul(4)
            }
            other => other.bytes(),
        }
    }

    /// Removes all cells but the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        match self {
            Self::F32(values) => values.truncate(count),
            Self::F64(values) => values.truncate(count),
            Self::I64(values) => values.truncate(count),
            Self::Levels(levels) => levels.codes.truncate(count),
        }
    }

    /// Returns the leaf, and the names of its levels if it has categories.
    pub(super) fn finish(
        self,
        name: &str,
        width: usize,
        precision: Precision,
    ) -> sgmcmc_gradient::Result<(Column, Option<Vec<String>>)> {
        let shape = if width == 1 { vec![] } else { vec![width] };
        let values: Values = match self {
            Self::F32(values) => values.into(),
            Self::F64(values) => values.into(),
            Self::I64(values) => values.into(),
            Self::Levels(levels) => return levels.finish(name, precision),
        };
        Ok((Column::new(name, values, shape)?, None))
    }
}

impl Levels {
    fn push(&mut self, text: &[u8]) -> Result<(), Problem> {
        let code = match self.known.get(text) {
            Some(code) => *code,
            None if self.given => {
                return Err(Problem::UnknownLevel { text: shortened(text), levels: self.names.clone() });
            }
            None => {
                // The name is stored twice. 96 bytes are an estimate of the overhead of the map and the vector.
                self.name_bytes += 2 * text.len() + 96;
                self.known.insert(text.to_vec(), self.names.len());
                self.names.push(String::from_utf8_lossy(text).into_owned());
                self.names.len() - 1
            }
        };
        self.codes.push(code);
        Ok(())
    }

    fn finish(self, name: &str, precision: Precision) -> sgmcmc_gradient::Result<(Column, Option<Vec<String>>)> {
        let order = self.order();
        let mut code_of = vec![0; self.names.len()];
        order.iter().enumerate().for_each(|(code, level)| code_of[*level] = code);
        let names: Vec<String> = order.iter().map(|level| self.names[*level].clone()).collect();
        let codes = self.codes.iter().map(|level| code_of[*level]);
        let column = if self.one_hot {
            let mut ones = vec![0.0_f32; self.codes.len() * names.len()];
            codes.enumerate().for_each(|(row, code)| ones[row * names.len() + code] = 1.0);
            Column::new(name, ones, [names.len()])?.with_precision(precision)
        } else {
            Column::new(name, codes.map(|code| code as i64).collect::<Vec<_>>(), [])?
        };
        Ok((column, Some(names)))
    }

    /// Returns the levels in their final order: the given order, or else sorted (as numbers if all are numbers) without
    /// levels that occur only in skipped rows.
    fn order(&self) -> Vec<usize> {
        if self.given {
            return (0..self.names.len()).collect();
        }
        let mut used = vec![false; self.names.len()];
        self.codes.iter().for_each(|code| used[*code] = true);
        let mut order: Vec<usize> = (0..self.names.len()).filter(|level| used[*level]).collect();
        let numbers: Option<Vec<f64>> = self.names.iter().map(|name| name.parse().ok()).collect();
        match numbers {
            Some(numbers) => order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b])),
            None => order.sort_by(|a, b| self.names[*a].cmp(&self.names[*b])),
        }
        order
    }
}

fn parse<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Parses an unsigned integer of at most seven digits, which is exact in every float type. Most cells are such
/// integers.
fn short_integer(text: &[u8]) -> Option<i32> {
    if text.is_empty() || text.len() > 7 {
        return None;
    }
    text.iter().try_fold(0_i32, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i32::from(byte - b'0')))
}
