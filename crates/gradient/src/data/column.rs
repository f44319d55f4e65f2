//! A leaf of a data set, in host memory or in a mapped file.

use std::fmt;

use super::Buffer;
use super::precision::Precision;
use super::rows::{Rows, Selection};
use crate::error::{Error, Result};

/// The values of one leaf in row-major order, whose first axis is the observation.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::{ElementType, Values};
///
/// let values = Values::from(vec![1.0_f32, 2.0]);
/// assert_eq!((values.len(), values.element_type()), (2, ElementType::F32));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floats in single precision.
    F32(Buffer<f32>),
    /// Floats in double precision.
    F64(Buffer<f64>),
    /// 32-bit integers.
    I32(Buffer<i32>),
    /// 64-bit integers.
    I64(Buffer<i64>),
    /// Booleans.
    Bool(Buffer<bool>),
    /// Booleans as bytes, where zero is false. Mapped files are not validated, so that any byte may occur.
    BoolBytes(Buffer<u8>),
}

/// Evaluates an expression on the buffer of [`Values`] for all element types.
macro_rules! each_type {
    ($values:expr, $vector:ident => $body:expr) => {
        match $values {
            Values::F32($vector) => $body,
            Values::F64($vector) => $body,
            Values::I32($vector) => $body,
            Values::I64($vector) => $body,
            Values::Bool($vector) => $body,
            Values::BoolBytes($vector) => $body,
        }
    };
}

macro_rules! values_from_vector {
    ($($element:ty, $variant:ident);+) => {
        $(impl From<Vec<$element>> for Values {
            fn from(values: Vec<$element>) -> Self {
                Self::$variant(values.into())
            }
        })+
    };
}

values_from_vector!(f32, F32; f64, F64; i32, I32; i64, I64; bool, Bool);

impl Values {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        each_type!(self, values => values.len())
    }

    /// Returns `true` if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element type.
    pub fn element_type(&self) -> ElementType {
        match self {
            Self::F32(_) => ElementType::F32,
            Self::F64(_) => ElementType::F64,
            Self::I32(_) => ElementType::I32,
            Self::I64(_) => ElementType::I64,
            Self::Bool(_) | Self::BoolBytes(_) => ElementType::Bool,
        }
    }
}

/// The type of the elements of a column.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::{ElementType, Kind};
///
/// assert_eq!(ElementType::I32.kind(), Kind::Integer);
/// assert_eq!(ElementType::F64.to_string(), "f64");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// Floats in single precision.
    F32,
    /// Floats in double precision.
    F64,
    /// 32-bit integers.
    I32,
    /// 64-bit integers.
    I64,
    /// Booleans.
    Bool,
}

impl ElementType {
    /// Returns the kind of a tensor with these elements.
    pub fn kind(self) -> Kind {
        match self {
            Self::F32 | Self::F64 => Kind::Float,
            Self::I32 | Self::I64 => Kind::Integer,
            Self::Bool => Kind::Boolean,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Bool => "bool",
        })
    }
}

/// The kind of a column or a tensor.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Kind;
///
/// assert_eq!(Kind::Integer.name(), "integer");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Floats in single or double precision.
    Float,
    /// Integers.
    Integer,
    /// Booleans.
    Boolean,
}

impl Kind {
    /// Returns the name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
        }
    }
}

/// A leaf of a data set: the name, the shape of one observation, and the values.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Column;
///
/// let x = Column::new("x", vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [2])?;
/// assert_eq!((x.observations(), x.width()), (3, 2));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: String,
    row_shape: Vec<usize>,
    observations: usize,
    values: Values,
}

impl Column {
    /// Creates a leaf from row-major `values`. `row_shape` is the shape of one observation, and `[]` for one number per
    /// observation.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of values is not a multiple of the size of an observation, or if an observation
    /// has no element or more than five axes.
    pub fn new(name: impl Into<String>, values: impl Into<Values>, row_shape: impl Into<Vec<usize>>) -> Result<Self> {
        let (name, values, row_shape) = (name.into(), values.into(), row_shape.into());
        if row_shape.len() > 5 {
            return Err(Error::LeafRank { leaf: name, found: row_shape.len() + 1, expected: "at most 6".into() });
        }
        let width = row_shape.iter().try_fold(1_usize, |width, size| width.checked_mul(*size));
        let observations = match width {
            Some(width) if width > 0 && values.len().is_multiple_of(width) => values.len() / width,
            _ => return Err(Error::RowShape { leaf: name, values: values.len(), row_shape }),
        };
        Ok(Self { name, row_shape, observations, values })
    }

    /// Returns the path of the leaf.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the shape of one observation, which is the shape of the leaf without its first axis.
    pub fn row_shape(&self) -> &[usize] {
        &self.row_shape
    }

    /// Returns the number of observations.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Returns the values in row-major order.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Returns the element type.
    pub fn element_type(&self) -> ElementType {
        self.values.element_type()
    }

    /// Returns the size of the values in bytes.
    pub fn bytes(&self) -> usize {
        each_type!(&self.values, values => std::mem::size_of_val(&**values))
    }

    /// Returns `true` if the values can be read in place. See [`BufferOwner::in_place`](super::BufferOwner::in_place).
    pub fn in_place(&self) -> bool {
        each_type!(&self.values, values => values.owner().in_place())
    }

    /// Checks that the values are still readable. See [`BufferOwner::check`](super::BufferOwner::check).
    ///
    /// # Errors
    ///
    /// Returns [`Error::DataGone`] if they are not.
    pub fn check_readable(&self) -> Result<()> {
        let checked = each_type!(&self.values, values => values.owner().check());
        checked.map_err(|reason| Error::DataGone { leaf: self.name.clone(), reason })
    }

    /// Returns the kind of the elements.
    pub fn kind(&self) -> Kind {
        self.element_type().kind()
    }

    /// Returns an iterator over the values as `f64`. `true` is 1.
    pub fn numbers(&self) -> Box<dyn ExactSizeIterator<Item = f64> + '_> {
        match &self.values {
            Values::F32(values) => Box::new(values.iter().map(|value| f64::from(*value))),
            Values::F64(values) => Box::new(values.iter().copied()),
            Values::I32(values) => Box::new(values.iter().map(|value| f64::from(*value))),
            Values::I64(values) => Box::new(values.iter().map(|value| *value as f64)),
            Values::Bool(values) => Box::new(values.iter().map(|value| f64::from(u8::from(*value)))),
            Values::BoolBytes(values) => Box::new(values.iter().map(|value| f64::from(u8::from(*value != 0)))),
        }
    }

    /// Returns the number of values per observation.
    pub fn width(&self) -> usize {
        self.row_shape.iter().product()
    }

    /// Returns a leaf of the same name and shape with other values. The number of values must be the same.
    #[must_use]
    pub fn with_values(&self, values: Values) -> Self {
        Self { name: self.name.clone(), row_shape: self.row_shape.clone(), observations: self.observations, values }
    }

    /// Converts float values to `precision`. Other kinds of values do not change.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        let values = match (self.values, precision) {
            (Values::F32(values), Precision::Double) => {
                values.iter().copied().map(f64::from).collect::<Vec<_>>().into()
            }
            (Values::F64(values), Precision::Single) => {
                values.iter().map(|value| *value as f32).collect::<Vec<_>>().into()
            }
            (values, _) => values,
        };
        Self { values, ..self }
    }

    /// Returns a leaf with a copy of the selected observations.
    ///
    /// # Panics
    ///
    /// Panics if the index of an observation is out of range.
    #[must_use]
    pub fn take(&self, rows: Rows<'_>) -> Self {
        let width = self.width();
        let values = match &self.values {
            Values::F32(values) => gather(values, width, rows).into(),
            Values::F64(values) => gather(values, width, rows).into(),
            Values::I32(values) => gather(values, width, rows).into(),
            Values::I64(values) => gather(values, width, rows).into(),
            Values::Bool(values) => gather(values, width, rows).into(),
            Values::BoolBytes(values) => booleans(gather(values, width, rows)).into(),
        };
        Self { observations: rows.len(), ..self.with_values(values) }
    }

    /// Checks that all values are finite.
    ///
    /// # Errors
    ///
    /// Returns [`Error::DataNotFinite`] with the first value that is NaN or infinite.
    pub fn check_finite(&self) -> Result<()> {
        let non_finite = match &self.values {
            Values::F32(values) => first_non_finite(values.iter().map(|value| f64::from(*value))),
            Values::F64(values) => first_non_finite(values.iter().copied()),
            _ => None,
        };
        match non_finite {
            Some((index, value)) => {
                Err(Error::DataNotFinite { leaf: self.name.clone(), position: self.position(index), value })
            }
            None => Ok(()),
        }
    }

    /// Returns the row and the column of a value as text.
    pub fn position(&self, index: usize) -> String {
        let width = self.row_shape.iter().product::<usize>().max(1);
        let (row, mut rest) = (index / width, index % width);
        let mut subscripts = vec![0; self.row_shape.len()];
        for (subscript, size) in subscripts.iter_mut().zip(&self.row_shape).rev() {
            *subscript = rest % size;
            rest /= size;
        }
        match subscripts.as_slice() {
            [] => format!("row {row}"),
            [column] => format!("row {row}, column {column}"),
            more => format!("row {row}, element {more:?}"),
        }
    }
}

/// Returns the index and the value of the first value that is not finite.
fn first_non_finite(mut values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    values.by_ref().enumerate().find(|(_, value)| !value.is_finite())
}

/// Converts bytes to booleans. Zero is false.
fn booleans(bytes: Vec<u8>) -> Vec<bool> {
    bytes.into_iter().map(|byte| byte != 0).collect()
}

/// Returns a copy of the selected observations, with `width` values each. Panics if an index is out of range.
pub(crate) fn gather<T: Copy>(values: &Buffer<T>, width: usize, rows: Rows<'_>) -> Vec<T> {
    match rows.selection() {
        Selection::Range { start, length } => values.owner().copy_range(start * width..(start + length) * width),
        Selection::List(list) => values.owner().copy_rows(width, list),
    }
}
