//! One leaf of a data set, in host memory.

use burn_tensor::{DType, TensorData};

use super::rows::{Rows, Selection};
use crate::error::{Error, Result};

/// The numbers of one leaf, row after row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Short integers.
    I32(Vec<i32>),
    /// Long integers.
    I64(Vec<i64>),
    /// True or false.
    Bool(Vec<bool>),
}

/// Runs an expression on the vector inside [`Values`], whatever its element type.
macro_rules! each_type {
    ($values:expr, $vector:ident => $body:expr) => {
        match $values {
            Values::F32($vector) => $body,
            Values::F64($vector) => $body,
            Values::I32($vector) => $body,
            Values::I64($vector) => $body,
            Values::Bool($vector) => $body,
        }
    };
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
    /// A leaf from a tensor's content. The first axis is the observation.
    pub(super) fn new(name: String, data: TensorData) -> Result<Self> {
        let shape = data.shape().to_vec();
        let (observations, row_shape) = match shape.split_first() {
            Some((observations, row_shape)) => (*observations, row_shape.to_vec()),
            None => return Err(Error::EmptyDataset { reason: format!("leaf `{name}` has no axis") }),
        };
        let unsupported = |data: &TensorData| Error::DataType { leaf: name.clone(), found: data.dtype().name().into() };
        let values = match data.dtype() {
            DType::F32 => Values::F32(data.iter::<f32>().collect()),
            DType::F64 => Values::F64(data.iter::<f64>().collect()),
            DType::I64 | DType::U32 => Values::I64(data.iter::<i64>().collect()),
            DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 => Values::I32(data.iter::<i32>().collect()),
            DType::Bool(_) => Values::Bool(data.iter::<bool>().collect()),
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
        match self.values {
            Values::F32(_) => DType::F32,
            Values::F64(_) => DType::F64,
            Values::I32(_) => DType::I32,
            Values::I64(_) => DType::I64,
            Values::Bool(_) => DType::Bool(burn_tensor::BoolStore::Native),
        }
    }

    /// Bytes the values take.
    pub fn bytes(&self) -> usize {
        each_type!(&self.values, values => std::mem::size_of_val(values.as_slice()))
    }

    /// The same leaf with float values converted to `dtype`.
    pub(super) fn with_float(self, dtype: DType) -> Self {
        let values = match (self.values, dtype) {
            (Values::F32(values), DType::F64) => Values::F64(values.into_iter().map(f64::from).collect()),
            (Values::F64(values), DType::F32) => Values::F32(values.into_iter().map(|value| value as f32).collect()),
            (values, _) => values,
        };
        Self { values, ..self }
    }

    /// The selected rows, copied together. The caller has checked that they exist.
    pub(super) fn gather(&self, rows: Rows<'_>) -> TensorData {
        let mut shape = vec![rows.len()];
        shape.extend(&self.row_shape);
        let width = self.row_shape.iter().product();
        each_type!(&self.values, values => TensorData::new(gather(values, width, rows), shape))
    }

    /// The first value that is NaN or infinite, as an error that says where.
    pub(super) fn check_finite(&self) -> Result<()> {
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

    fn position(&self, index: usize) -> String {
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

fn gather<T: Copy>(values: &[T], width: usize, rows: Rows<'_>) -> Vec<T> {
    match rows.selection() {
        Selection::Range { start, length } => values[start * width..(start + length) * width].to_vec(),
        Selection::List(list) if width == 1 => list.iter().map(|row| values[*row]).collect(),
        Selection::List(list) => {
            let mut gathered = Vec::with_capacity(list.len() * width);
            for row in list {
                gathered.extend_from_slice(&values[row * width..(row + 1) * width]);
            }
            gathered
        }
    }
}
