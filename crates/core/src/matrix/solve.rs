//! Triangular systems, and systems with a positive definite matrix.

use burn_tensor::Tensor;
use sgmcmc_numerics::triangular;

use super::eager::{constant, host, identity, masked, transposed};
use super::recorded::{MatrixFunction, record};
use super::{cholesky, square};

/// Returns X with L X = B. Entries of L above the diagonal are ignored.
///
/// B has as many rows as L, and any number of columns.
///
/// # Panics
///
/// Panics if the matrices are not square, or if the number of rows differs.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::solve_lower};
///
/// let factor = array(vec![2.0, 0.0, 1.0, 2.0], [2, 2])?;
/// let x = solve_lower(factor, array(vec![2.0, 5.0], [2, 1])?);
/// assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn solve_lower<const D: usize>(factor: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    solve(factor, rhs, false)
}

/// Returns X with Lᵀ X = B. Entries of L above the diagonal are ignored.
///
/// # Panics
///
/// Panics if the matrices are not square, or if the number of rows differs.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::solve_lower_transposed};
///
/// let factor = array(vec![2.0, 0.0, 1.0, 2.0], [2, 2])?;
/// let x = solve_lower_transposed(factor, array(vec![4.0, 4.0], [2, 1])?);
/// assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn solve_lower_transposed<const D: usize>(factor: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    solve(factor, rhs, true)
}

/// Returns X with U X = B. Entries of U below the diagonal are ignored.
///
/// # Panics
///
/// Panics if the matrices are not square, or if the number of rows differs.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::solve_upper};
///
/// let factor = array(vec![2.0, 1.0, 0.0, 2.0], [2, 2])?;
/// let x = solve_upper(factor, array(vec![4.0, 4.0], [2, 1])?);
/// assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn solve_upper<const D: usize>(factor: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    square("solve_upper", factor.dims());
    solve(transposed(factor), rhs, true)
}

/// Returns X with Uᵀ X = B. Entries of U below the diagonal are ignored.
///
/// # Panics
///
/// Panics if the matrices are not square, or if the number of rows differs.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::solve_upper_transposed};
///
/// let factor = array(vec![2.0, 1.0, 0.0, 2.0], [2, 2])?;
/// let x = solve_upper_transposed(factor, array(vec![2.0, 5.0], [2, 1])?);
/// assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn solve_upper_transposed<const D: usize>(factor: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    square("solve_upper_transposed", factor.dims());
    solve(transposed(factor), rhs, false)
}

/// Returns X with L Lᵀ X = B, where L is a Cholesky factor.
///
/// # Panics
///
/// Panics if the matrices are not square, or if the number of rows differs.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::solve_factored};
///
/// let factor = array(vec![2.0, 0.0, 1.0, 2.0], [2, 2])?;
/// let x = solve_factored(factor, array(vec![8.0, 12.0], [2, 1])?);
/// assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn solve_factored<const D: usize>(factor: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    let half = solve(factor.clone(), rhs, false);
    solve(factor, half, true)
}

/// Returns X with A X = B, where A is symmetric and positive definite. Only the lower triangle of A is read.
///
/// If several systems have the same matrix, use [`cholesky`] once and [`solve_factored`] for each of them.
///
/// # Panics
///
/// Panics if the matrices are not square, or if the number of rows differs.
///
/// # Examples
///
/// ```
/// use sgmcmc::{array, matrix::solve_positive_definite};
///
/// let a = array(vec![4.0, 2.0, 2.0, 5.0], [2, 2])?;
/// let x = solve_positive_definite(a, array(vec![8.0, 12.0], [2, 1])?);
/// assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn solve_positive_definite<const D: usize>(matrix: Tensor<D>, rhs: Tensor<D>) -> Tensor<D> {
    solve_factored(cholesky(matrix), rhs)
}

/// Solves L X = B, or Lᵀ X = B if `transpose` is true.
fn solve<const D: usize>(factor: Tensor<D>, rhs: Tensor<D>, transpose: bool) -> Tensor<D> {
    let (of_factor, of_rhs) = (factor.dims(), rhs.dims());
    let n = square("a triangular system", of_factor);
    let dims = result_dims(of_factor, of_rhs, n);
    let function = if transpose { MatrixFunction::SolveLowerTransposed } else { MatrixFunction::SolveLower };
    if let Some(recorded) = record(function, &[factor.clone(), rhs.clone()], dims) {
        return recorded;
    }
    let solve_in_place = if transpose { triangular::solve_lower_transposed } else { triangular::solve_lower };
    let (factors, columns) = (host(&factor), dims[D - 1]);
    let mut solved = host(&rhs.clone().detach().expand(dims));
    let size = (n * columns).max(1);
    let matrices = matrix_starts(of_factor, dims, n * n);
    for (solved, start) in solved.chunks_exact_mut(size).zip(&matrices) {
        solve_in_place(&factors[*start..start + n * n], n, solved, columns);
    }
    let solution = constant(solved, dims, &rhs);
    // With dL and dB the differences of L and B from their own values, which are zero, the solution is
    // X + L⁻¹ (dB − dL X) to first order.
    let mut change = rhs.is_tracked().then(|| rhs.clone() - rhs.detach());
    if factor.is_tracked() {
        let moved = masked(factor.clone() - factor.clone().detach(), |i, j| f64::from(u8::from(i >= j)));
        let moved = if transpose { transposed(moved) } else { moved };
        let product = moved.matmul(solution.clone());
        change = Some(match change {
            Some(change) => change - product,
            None => product.neg(),
        });
    }
    let Some(change) = change else { return solution };
    let mut inverse = identity(n, factors.len());
    for (factor, inverse) in factors.chunks_exact((n * n).max(1)).zip(inverse.chunks_exact_mut((n * n).max(1))) {
        triangular::solve_lower(factor, n, inverse, n);
    }
    let inverse = constant(inverse, of_factor, &factor);
    let inverse = if transpose { transposed(inverse) } else { inverse };
    solution + inverse.matmul(change)
}

/// Returns the shape of the solution.
fn result_dims<const D: usize>(factor: [usize; D], rhs: [usize; D], n: usize) -> [usize; D] {
    let fits = (0..D - 2).all(|axis| factor[axis] == rhs[axis] || factor[axis] == 1 || rhs[axis] == 1);
    if !fits || rhs[D - 2] != n {
        panic!("a triangular system: a factor of shape {factor:?} does not fit a right-hand side of shape {rhs:?}");
    }
    std::array::from_fn(|axis| if axis + 2 < D && rhs[axis] == 1 { factor[axis] } else { rhs[axis] })
}

/// Returns the position of the matrix of `of` for each index of the leading axes of `dims`.
fn matrix_starts<const D: usize>(of: [usize; D], dims: [usize; D], size: usize) -> Vec<usize> {
    let count = dims[..D - 2].iter().product();
    (0..count)
        .map(|mut flat| {
            let (mut index, mut stride) = (0, 1);
            for axis in (0..D - 2).rev() {
                let position = flat % dims[axis];
                flat /= dims[axis];
                index += stride * if of[axis] == 1 { 0 } else { position };
                stride *= of[axis];
            }
            index * size
        })
        .collect()
}
