//! Diagonals and determinants.

use burn_tensor::{Slice, Tensor};

use super::eager::{constant, masked};
use super::square;

/// Returns the diagonals of matrices as rows: a result of shape `[…, 1, n]`.
///
/// # Panics
///
/// Panics if the last two axes have different lengths.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::diagonal};
///
/// let matrix = array(vec![1.0, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(diagonal(matrix).into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 4.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn diagonal<const D: usize>(matrix: Tensor<D>) -> Tensor<D> {
    let dims = matrix.dims();
    let n = square("diagonal", dims);
    // In a row of all n² elements, the elements of the diagonal have a distance of n + 1.
    let row = std::array::from_fn(|axis| match D - axis {
        1 => n * n,
        2 => 1,
        _ => dims[axis],
    });
    matrix.reshape::<D, _>(row).slice_dim(D - 1, Slice::with_step(0, None, n as isize + 1))
}

/// Returns the logarithm of the determinant of L Lᵀ from the factor L, in a result of shape `[…, 1, 1]`.
///
/// # Panics
///
/// Panics if the last two axes have different lengths.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::log_determinant};
///
/// let factor = array(vec![2.0, 0.0, 1.0, 2.0], [2, 2])?;
/// assert!((log_determinant(factor).into_scalar::<f64>() - 16.0_f64.ln()).abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn log_determinant<const D: usize>(factor: Tensor<D>) -> Tensor<D> {
    diagonal(factor).log().sum_dim(D - 1) * 2.0
}

/// Returns the lower triangles of matrices, with zeros above the diagonal.
///
/// # Panics
///
/// Panics if the last two axes have different lengths.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::lower_triangle};
///
/// let matrix = array(vec![1.0, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(lower_triangle(matrix).into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 0.0, 3.0, 4.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn lower_triangle<const D: usize>(matrix: Tensor<D>) -> Tensor<D> {
    square("lower_triangle", matrix.dims());
    masked(matrix, |i, j| f64::from(u8::from(i >= j)))
}

/// Adds a number to the diagonals of matrices.
///
/// # Panics
///
/// Panics if the last two axes have different lengths.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::add_diagonal};
///
/// let matrix = array(vec![1.0, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(add_diagonal(matrix, 0.5).into_data().iter::<f64>().collect::<Vec<_>>(), [1.5, 2.0, 3.0, 4.5]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn add_diagonal<const D: usize>(matrix: Tensor<D>, number: f64) -> Tensor<D> {
    let n = square("add_diagonal", matrix.dims());
    let dims = std::array::from_fn(|axis| if axis + 2 < D { 1 } else { n });
    let values = (0..n * n).map(|at| if at.is_multiple_of(n + 1) { number } else { 0.0 }).collect();
    let added = constant(values, dims, &matrix);
    matrix + added
}
