//! Constants and masks for the eager evaluation of functions of matrices.

use burn_tensor::{Tensor, TensorData};

/// Copies the elements of a tensor to the host, as `f64`.
pub(super) fn host<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// Creates a tensor with the float type and the device of `like`.
pub(super) fn constant<const D: usize, const E: usize>(
    values: Vec<f64>,
    dims: [usize; D],
    like: &Tensor<E>,
) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values, dims), (&like.device(), like.dtype()))
}

/// Returns identity matrices with `n` rows, with `count` elements in total.
pub(super) fn identity(n: usize, count: usize) -> Vec<f64> {
    (0..count).map(|at| if (at % (n * n)).is_multiple_of(n + 1) { 1.0 } else { 0.0 }).collect()
}

/// Multiplies the matrices of the last two axes by a matrix with these entries.
pub(super) fn masked<const D: usize>(matrix: Tensor<D>, entry: impl Fn(usize, usize) -> f64) -> Tensor<D> {
    let n = matrix.dims()[D - 1];
    let dims = std::array::from_fn(|axis| if axis + 2 < D { 1 } else { n });
    let mask = constant((0..n * n).map(|at| entry(at / n, at % n)).collect(), dims, &matrix);
    matrix * mask
}

/// Swaps the last two axes.
pub(super) fn transposed<const D: usize>(matrix: Tensor<D>) -> Tensor<D> {
    matrix.swap_dims(D - 2, D - 1)
}
