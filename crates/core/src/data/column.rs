//! One leaf of a data set, in host memory or in a mapped file.

use burn_tensor::{DType, TensorData};

use super::Buffer;
use super::dataset::Precision;
use super::rows::{Rows, Selection};
use crate::error::{Error, Result};

/// The numbers of one leaf, row after row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Single precision.
    F32(Buffer<f32>),
    /// Double precision.
    F64(Buffer<f64>),
    /// Short integers.
    I32(Buffer<i32>),
    /// Long integers.
    I64(Buffer<i64>),
    /// True or false.
    Bool(Buffer<bool>),
    /// True or false as bytes, of which zero is false: booleans that come from outside, where any byte may occur.
    BoolBytes(Buffer<u8>),
}

/// Runs an expression on the slice inside [`Values`], whatever its element type.
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
    /// How many numbers.
    pub fn len(&self) -> usize {
        each_type!(self, values => values.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element type as Burn names it.
    pub fn dtype(&self) -> DType {
        match self {
            Self::F32(_) => DType::F32,
            Self::F64(_) => DType::F64,
            Self::I32(_) => DType::I32,
            Self::I64(_) => DType::I64,
            Self::Bool(_) | Self::BoolBytes(_) => DType::Bool(burn_tensor::BoolStore::Native),
        }
    }
}

/// One leaf of a data set: its name, the shape of one observation, and the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: String,
    row_shape: Vec<usize>,
    observations: usize,
    values: Values,
}

impl Column {
    /// A leaf of `values`, row after row, where one row has shape `row_shape` (`[]` for one number per observation).
    ///
    /// ```
    /// use sgmcmc_core::data::Column;
    ///
    /// let x = Column::new("x", vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [2])?;
    /// assert_eq!(x.observations(), 3);
    /// # Ok::<(), sgmcmc_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the values are not a whole number of rows, or a row has no element or more than five axes.
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

    /// A leaf from a tensor's content. The first axis is the observation.
    pub(super) fn from_tensor(name: String, data: TensorData) -> Result<Self> {
        let shape = data.shape().to_vec();
        let (observations, row_shape) = match shape.split_first() {
            Some((observations, row_shape)) => (*observations, row_shape.to_vec()),
            None => return Err(Error::EmptyDataset { reason: format!("leaf `{name}` has no axis") }),
        };
        let unsupported = |data: &TensorData| Error::DataType { leaf: name.clone(), found: data.dtype().name().into() };
        let values = match data.dtype() {
            DType::F32 => data.iter::<f32>().collect::<Vec<_>>().into(),
            DType::F64 => data.iter::<f64>().collect::<Vec<_>>().into(),
            DType::I64 | DType::U32 => data.iter::<i64>().collect::<Vec<_>>().into(),
            DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 => {
                data.iter::<i32>().collect::<Vec<_>>().into()
            }
            DType::Bool(_) => data.iter::<bool>().collect::<Vec<_>>().into(),
            _ => return Err(unsupported(&data)),
        };
        Ok(Self { name, row_shape, observations, values })
    }

    /// The leaf's path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The shape of one observation: the leaf's shape without its first axis.
    pub fn row_shape(&self) -> &[usize] {
        &self.row_shape
    }

    /// How many observations.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// The numbers, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The element type as Burn names it.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// Bytes the values take.
    pub fn bytes(&self) -> usize {
        each_type!(&self.values, values => std::mem::size_of_val(&**values))
    }

    /// Whether the values may be read where they lie, see [`Owner::in_place`](super::Owner::in_place).
    pub(crate) fn in_place(&self) -> bool {
        each_type!(&self.values, values => values.owner().in_place())
    }

    /// Returns an error if the values can no longer be read, see [`Owner::check`](super::Owner::check).
    pub(crate) fn check_readable(&self) -> Result<()> {
        let checked = each_type!(&self.values, values => values.owner().check());
        checked.map_err(|reason| Error::DataGone { leaf: self.name.clone(), reason })
    }

    /// What the leaf is: float, integer or boolean.
    pub(super) fn kind(&self) -> &'static str {
        match self.values {
            Values::F32(_) | Values::F64(_) => "float",
            Values::I32(_) | Values::I64(_) => "integer",
            Values::Bool(_) | Values::BoolBytes(_) => "boolean",
        }
    }

    /// The values as numbers; true is one.
    pub(crate) fn numbers(&self) -> Box<dyn ExactSizeIterator<Item = f64> + '_> {
        match &self.values {
            Values::F32(values) => Box::new(values.iter().map(|value| f64::from(*value))),
            Values::F64(values) => Box::new(values.iter().copied()),
            Values::I32(values) => Box::new(values.iter().map(|value| f64::from(*value))),
            Values::I64(values) => Box::new(values.iter().map(|value| *value as f64)),
            Values::Bool(values) => Box::new(values.iter().map(|value| f64::from(u8::from(*value)))),
            Values::BoolBytes(values) => Box::new(values.iter().map(|value| f64::from(u8::from(*value != 0)))),
        }
    }

    /// Numbers per observation.
    pub(crate) fn width(&self) -> usize {
        self.row_shape.iter().product()
    }

    /// The same leaf with other values, as many as before.
    pub(super) fn with_values(&self, values: Values) -> Self {
        Self { name: self.name.clone(), row_shape: self.row_shape.clone(), observations: self.observations, values }
    }

    /// The same leaf with float values converted to `precision`; other kinds stay as they are.
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

    /// The selected rows, copied together. The caller has checked that they exist.
    pub(super) fn gather(&self, rows: Rows<'_>) -> TensorData {
        let mut shape = vec![rows.len()];
        shape.extend(&self.row_shape);
        let width = self.width();
        match &self.values {
            Values::F32(values) => TensorData::new(gather(values, width, rows), shape),
            Values::F64(values) => TensorData::new(gather(values, width, rows), shape),
            Values::I32(values) => TensorData::new(gather(values, width, rows), shape),
            Values::I64(values) => TensorData::new(gather(values, width, rows), shape),
            Values::Bool(values) => TensorData::new(gather(values, width, rows), shape),
            Values::BoolBytes(values) => TensorData::new(booleans(gather(values, width, rows)), shape),
        }
    }

    /// The selected rows as a leaf of their own. The caller has checked that they exist.
    pub(crate) fn take(&self, rows: Rows<'_>) -> Self {
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

    /// The first value that is NaN or infinite, as an error that says where.
    pub fn check_finite(&self) -> Result<()> {
        let bad = match &self.values {
            Values::F32(values) => first_non_finite(values.iter().map(|value| f64::from(*value))),
            Values::F64(values) => first_non_finite(values.iter().copied()),
            _ => None,
        };
        match bad {
            Some((index, value)) => {
                Err(Error::DataNotFinite { leaf: self.name.clone(), position: self.position(index), value })
            }
            None => Ok(()),
        }
    }

    /// Row and column of a value, as words.
    pub(crate) fn position(&self, index: usize) -> String {
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

fn first_non_finite(mut values: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    values.by_ref().enumerate().find(|(_, value)| !value.is_finite())
}

fn booleans(bytes: Vec<u8>) -> Vec<bool> {
    bytes.into_iter().map(|byte| byte != 0).collect()
}

fn gather<T: Copy>(values: &Buffer<T>, width: usize, rows: Rows<'_>) -> Vec<T> {
    match rows.selection() {
        Selection::Range { start, length } => values.owner().copy_range(start * width..(start + length) * width),
        Selection::List(list) => values.owner().copy_rows(width, list),
    }
}
