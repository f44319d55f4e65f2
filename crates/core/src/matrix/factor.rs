//! Cholesky factors.

use burn_tensor::Tensor;
use sgmcmc_numerics::triangular;

use super::eager::{constant, host, identity, masked, transposed};
use super::recorded::{MatrixFunction, record};
use super::square;

/// Returns the Cholesky factor of symmetric positive definite matrices A: the lower triangular L with L Lᵀ = A.
///
/// Only the lower triangle of A is read, and the gradient with respect to the entries above the diagonal is zero. The
/// factor is NaN if A is not positive definite.
///
/// The cost is n³/3 multiplications, and about twice as many for the gradient.
///
/// # Panics
///
/// Panics if the last two axes have different lengths.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::cholesky};
///
/// let a = array(vec![4.0, 2.0, 2.0, 5.0], [2, 2])?;
/// assert_eq!(cholesky(a).into_data().iter::<f64>().collect::<Vec<_>>(), [2.0, 0.0, 1.0, 2.0]);
/// let indefinite = array(vec![1.0, 2.0, 2.0, 1.0], [2, 2])?;
/// assert!(cholesky(indefinite).into_data().iter::<f64>().all(f64::is_nan));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn cholesky<const D: usize>(matrix: Tensor<D>) -> Tensor<D> {
    let dims = matrix.dims();
    let n = square("cholesky", dims);
    if let Some(recorded) = record(MatrixFunction::Cholesky, std::slice::from_ref(&matrix), dims) {
        return recorded;
    }
    let mut values = host(&matrix);
    for part in values.chunks_exact_mut((n * n).max(1)) {
        if triangular::cholesky(part, n).is_err() {
            part.fill(f64::NAN);
        }
    }
    let factor = constant(values.clone(), dims, &matrix);
    if !matrix.is_tracked() {
        return factor;
    }
    // With dA the difference of A from its own value, which is zero, the factor is L + L Φ(L⁻¹ dA L⁻ᵀ) to first order.
    // Φ keeps the lower triangle and halves the diagonal.
    let change = matrix.clone() - matrix.detach();
    let change = masked(change, |i, j| if i > j { 2.0 } else { f64::from(u8::from(i == j)) });
    let symmetric = (change.clone() + transposed(change)) * 0.5;
    let mut inverse = identity(n, values.len());
    for (factor, inverse) in values.chunks_exact((n * n).max(1)).zip(inverse.chunks_exact_mut((n * n).max(1))) {
        triangular::solve_lower(factor, n, inverse, n);
    }
    let inverse = constant(inverse, dims, &factor);
    let inner = inverse.clone().matmul(symmetric).matmul(transposed(inverse));
    let inner = masked(inner, |i, j| if i > j { 1.0 } else { 0.5 * f64::from(u8::from(i == j)) });
    factor.clone() + factor.matmul(inner)
}
