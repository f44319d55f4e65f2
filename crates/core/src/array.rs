//! Tensors from plain vectors, on the default device.

use burn_tensor::{Bool, DType, Device, Float, Int, Tensor, TensorData, kind::Basic};

use crate::error::{Error, Result};

/// The device models run on unless told otherwise: Flex, or NdArray with the feature `ndarray`.
pub fn default_device() -> Device {
    #[cfg(feature = "ndarray")]
    #[allow(deprecated, reason = "asked for by name through the feature")]
    return Device::ndarray();
    #[cfg(not(feature = "ndarray"))]
    Device::flex()
}

/// A number that tensors are made of: f32, f64, i32, i64 or bool.
pub trait Number: burn_tensor::Element {
    /// The kind of tensor it makes.
    type Kind: Basic;
    /// Its type as Burn names it.
    const DTYPE: DType;
}

macro_rules! number {
    ($($element:ty, $kind:ty, $dtype:expr);+) => {
        $(impl Number for $element {
            type Kind = $kind;
            const DTYPE: DType = $dtype;
        })+
    };
}

number!(
    f32, Float, DType::F32;
    f64, Float, DType::F64;
    i32, Int, DType::I32;
    i64, Int, DType::I64;
    bool, Bool, DType::Bool(burn_tensor::BoolStore::Native)
);

/// A tensor with `values` in row-major order, keeping their type (Burn's own constructors convert to the device's default).
///
/// ```
/// let x = sgmcmc_core::array(vec![1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])?;
/// assert_eq!(x.dims(), [3, 2]);
///
/// let error = sgmcmc_core::array(vec![1_i64, 2, 3], [2, 2]).unwrap_err();
/// assert_eq!(error.to_string(), "3 values do not fill shape [2, 2] (4 elements)");
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
pub fn array<T: Number, const D: usize>(values: Vec<T>, shape: [usize; D]) -> Result<Tensor<D, T::Kind>> {
    let expected = shape.iter().product();
    if values.len() != expected {
        return Err(Error::ArrayShape { values: values.len(), shape: shape.to_vec(), expected });
    }
    Ok(Tensor::from_data(TensorData::new(values, shape), (&default_device(), T::DTYPE)))
}

/// A float tensor of zeros in double precision: the usual start of a parameter.
pub fn zeros<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    full(shape, 0.0)
}

/// A float tensor of ones in double precision.
pub fn ones<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    full(shape, 1.0)
}

/// A float tensor filled with `value` in double precision.
pub fn full<const D: usize>(shape: [usize; D], value: f64) -> Tensor<D> {
    Tensor::full(shape, value, (&default_device(), DType::F64))
}
