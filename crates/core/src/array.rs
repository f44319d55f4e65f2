//! Tensors from plain vectors, on the default device.

use burn_tensor::{Bool, DType, Device, Float, Int, Tensor, TensorData, kind::Basic};

use sgmcmc_gradient::{Error, Precision, Result};

/// Returns the default device of models: Flex, or NdArray with the feature `ndarray-device`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let x = Tensor::<1>::zeros([2], &sgmcmc::default_device());
/// assert_eq!(x.dims(), [2]);
/// ```
pub fn default_device() -> Device {
    #[cfg(feature = "ndarray-device")]
    #[allow(deprecated, reason = "the feature requests this device by name")]
    return Device::ndarray();
    #[cfg(not(feature = "ndarray-device"))]
    Device::flex()
}

/// Returns Burn's float type for `precision`.
///
/// # Examples
///
/// ```
/// use sgmcmc::burn::DType;
/// use sgmcmc::data::Precision;
///
/// assert_eq!(sgmcmc::dtype(Precision::Double), DType::F64);
/// ```
pub fn dtype(precision: Precision) -> DType {
    match precision {
        Precision::Single => DType::F32,
        Precision::Double => DType::F64,
    }
}

/// An element type of tensors: `f32`, `f64`, `i32`, `i64` or `bool`.
pub trait Number: burn_tensor::Element {
    /// The kind of a tensor with elements of this type.
    type Kind: Basic;
    /// Burn's name of this type.
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

/// Creates a tensor from `values` in row-major order.
///
/// The tensor keeps the element type of the values. Burn's own constructors convert to the default type of the device.
///
/// # Errors
///
/// Returns an error if the number of values is not the product of `shape`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let x: Tensor<2> = array(vec![1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])?;
/// assert_eq!(x.dims(), [3, 2]);
///
/// let error = array(vec![1_i64, 2, 3], [2, 2]).unwrap_err();
/// assert_eq!(error.to_string(), "3 values do not fill shape [2, 2] (4 elements)");
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn array<T: Number, const D: usize>(values: Vec<T>, shape: [usize; D]) -> Result<Tensor<D, T::Kind>> {
    let expected = shape.iter().product();
    if values.len() != expected {
        return Err(Error::ArrayShape { values: values.len(), shape: shape.to_vec(), expected });
    }
    Ok(Tensor::from_data(TensorData::new(values, shape), (&default_device(), T::DTYPE)))
}

/// Creates a float tensor of zeros in double precision.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let start: Tensor<1> = zeros([3]);
/// assert_eq!(start.into_data().iter::<f64>().collect::<Vec<_>>(), [0.0; 3]);
/// ```
pub fn zeros<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    full(shape, 0.0)
}

/// Creates a float tensor of ones in double precision.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let scale: Tensor<1> = ones([2]);
/// assert_eq!(scale.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0; 2]);
/// ```
pub fn ones<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    full(shape, 1.0)
}

/// Creates a float tensor in double precision with every element equal to `value`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let sigma: Tensor<2> = full([2, 2], 0.5);
/// assert_eq!(sigma.sum().into_scalar::<f64>(), 2.0);
/// ```
pub fn full<const D: usize>(shape: [usize; D], value: f64) -> Tensor<D> {
    Tensor::full(shape, value, (&default_device(), DType::F64))
}
