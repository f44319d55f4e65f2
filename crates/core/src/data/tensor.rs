//! Conversions between columns and tensors.

use burn_tensor::{DType, TensorData};
use sgmcmc_gradient::data::{Column, ElementType, Rows, Values};
use sgmcmc_gradient::{Error, Result};

/// Returns Burn's name of an element type.
pub(crate) fn dtype(element: ElementType) -> DType {
    match element {
        ElementType::F32 => DType::F32,
        ElementType::F64 => DType::F64,
        ElementType::I32 => DType::I32,
        ElementType::I64 => DType::I64,
        ElementType::Bool => DType::Bool(burn_tensor::BoolStore::Native),
    }
}

/// Creates a column from the content of a tensor. The first axis is the observation.
///
/// # Errors
///
/// Returns an error if the tensor has no axis, or an element type that columns do not have.
pub(super) fn column(name: String, data: TensorData) -> Result<Column> {
    let shape = data.shape().to_vec();
    let Some((_, row_shape)) = shape.split_first() else {
        return Err(Error::EmptyDataset { reason: format!("leaf `{name}` has no axis") });
    };
    let values: Values = match data.dtype() {
        DType::F32 => data.iter::<f32>().collect::<Vec<_>>().into(),
        DType::F64 => data.iter::<f64>().collect::<Vec<_>>().into(),
        DType::I64 | DType::U32 => data.iter::<i64>().collect::<Vec<_>>().into(),
        DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 => data.iter::<i32>().collect::<Vec<_>>().into(),
        DType::Bool(_) => data.iter::<bool>().collect::<Vec<_>>().into(),
        _ => return Err(Error::DataType { leaf: name, found: data.dtype().name().into() }),
    };
    Column::new(name, values, row_shape)
}

/// Copies the selected observations of a column. The caller has checked that they exist.
pub(super) fn gather(column: &Column, rows: Rows<'_>) -> TensorData {
    let mut shape = vec![rows.len()];
    shape.extend(column.row_shape());
    let width = column.width();
    match column.values() {
        Values::F32(values) => TensorData::new(values.gather(width, rows), shape),
        Values::F64(values) => TensorData::new(values.gather(width, rows), shape),
        Values::I32(values) => TensorData::new(values.gather(width, rows), shape),
        Values::I64(values) => TensorData::new(values.gather(width, rows), shape),
        Values::Bool(values) => TensorData::new(values.gather(width, rows), shape),
        Values::BoolBytes(values) => {
            let booleans: Vec<bool> = values.gather(width, rows).into_iter().map(|byte| byte != 0).collect();
            TensorData::new(booleans, shape)
        }
    }
}
