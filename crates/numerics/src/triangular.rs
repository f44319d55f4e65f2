//! Cholesky factorization, its derivative, and triangular systems, in place on slices.
//!
//! Matrices are square with `dim` rows, in row-major order. Right-hand sides have `dim` rows and `columns` columns, in
//! row-major order.

use crate::error::Error;
use crate::vector::{add_scaled, dot};

/// Replaces a symmetric positive definite matrix A by its Cholesky factor, the lower triangular L with L Lᵀ = A.
///
/// Only the lower triangle is read. The entries above the diagonal become zero.
///
/// # Errors
///
/// Returns an error if the matrix is not positive definite, or if it does not have `dim`² entries. The matrix is then
/// invalid.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::triangular::cholesky;
///
/// let mut matrix = [4.0, 2.0, 2.0, 5.0];
/// cholesky(&mut matrix, 2)?;
/// assert_eq!(matrix, [2.0, 0.0, 1.0, 2.0]);
/// # Ok::<(), sgmcmc::numerics::Error>(())
/// ```
pub fn cholesky(matrix: &mut [f64], dim: usize) -> Result<(), Error> {
    if matrix.len() != dim * dim {
        return Err(Error::Length { dim, expected: dim * dim, found: matrix.len() });
    }
    for i in 0..dim {
        let (above, rest) = matrix.split_at_mut(i * dim);
        let row = &mut rest[..dim];
        for j in 0..i {
            let upper = &above[j * dim..(j + 1) * dim];
            row[j] = (row[j] - dot(&row[..j], &upper[..j])) / upper[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        // A pivot of the size of the rounding error is treated as zero.
        if pivot.is_nan() || pivot <= f64::EPSILON * row[i].abs() {
            return Err(Error::NotPositiveDefinite { row: i, pivot });
        }
        row[i] = pivot.sqrt();
        row[i + 1..].fill(0.0);
    }
    Ok(())
}

/// Replaces the adjoint of a Cholesky factor L by the adjoint of the lower triangle of A = L Lᵀ, by the algorithm of
/// Smith (1995). The entries above the diagonal of `adjoint` are ignored, and become zero.
///
/// `work` has 2 `dim` numbers, which are overwritten.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::triangular::cholesky_adjoint;
///
/// // L = √A has the derivative 1/(2 L).
/// let mut adjoint = [1.0];
/// cholesky_adjoint(&[4.0], &mut adjoint, 1, &mut [0.0; 2]);
/// assert_eq!(adjoint, [0.125]);
/// ```
pub fn cholesky_adjoint(factor: &[f64], adjoint: &mut [f64], dim: usize, work: &mut [f64]) {
    let (column, sums) = work.split_at_mut(dim);
    for k in (0..dim).rev() {
        for i in k..dim {
            column[i] = factor[i * dim + k];
            sums[i] = adjoint[i * dim + k];
        }
        for i in k + 1..dim {
            let row = &adjoint[i * dim + k + 1..=i * dim + i];
            sums[i] -= dot(row, &column[k + 1..=i]);
            add_scaled(&mut sums[k + 1..=i], -column[i], row);
        }
        let pivot = column[k];
        for j in k + 1..dim {
            sums[j] /= pivot;
            adjoint[j * dim + k] = sums[j];
        }
        sums[k] -= dot(&column[k + 1..dim], &sums[k + 1..dim]);
        adjoint[k * dim + k] = 0.5 * sums[k] / pivot;
        adjoint[k * dim + k + 1..(k + 1) * dim].fill(0.0);
    }
}

/// Replaces B by L⁻¹ B. Entries of L above the diagonal are ignored.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::triangular::solve_lower;
///
/// let mut x = [2.0, 5.0];
/// solve_lower(&[2.0, 0.0, 1.0, 2.0], 2, &mut x, 1);
/// assert_eq!(x, [1.0, 2.0]);
/// ```
pub fn solve_lower(factor: &[f64], dim: usize, rhs: &mut [f64], columns: usize) {
    for i in 0..dim {
        let row = &factor[i * dim..(i + 1) * dim];
        let (solved, rest) = rhs.split_at_mut(i * columns);
        let current = &mut rest[..columns];
        if let [x] = current {
            *x = (*x - dot(&row[..i], solved)) / row[i];
        } else {
            for (coefficient, x) in row[..i].iter().zip(solved.chunks_exact(columns)) {
                add_scaled(current, -coefficient, x);
            }
            current.iter_mut().for_each(|x| *x /= row[i]);
        }
    }
}

/// Replaces B by L⁻ᵀ B. Entries of L above the diagonal are ignored.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::triangular::solve_lower_transposed;
///
/// let mut x = [4.0, 4.0];
/// solve_lower_transposed(&[2.0, 0.0, 1.0, 2.0], 2, &mut x, 1);
/// assert_eq!(x, [1.0, 2.0]);
/// ```
pub fn solve_lower_transposed(factor: &[f64], dim: usize, rhs: &mut [f64], columns: usize) {
    for i in (0..dim).rev() {
        let row = &factor[i * dim..(i + 1) * dim];
        let (before, rest) = rhs.split_at_mut(i * columns);
        let current = &mut rest[..columns];
        current.iter_mut().for_each(|x| *x /= row[i]);
        if let [x] = current {
            add_scaled(before, -*x, &row[..i]);
        } else {
            for (coefficient, x) in row[..i].iter().zip(before.chunks_exact_mut(columns)) {
                add_scaled(x, -coefficient, current);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{distance, normals, positive_definite};

    /// Returns op(A) B for matrices in row-major order.
    fn product(a: &[f64], transposed: bool, b: &[f64], dim: usize) -> Vec<f64> {
        let columns = b.len() / dim;
        let entry = |i: usize, j: usize| if transposed { a[j * dim + i] } else { a[i * dim + j] };
        (0..b.len()).map(|at| (0..dim).map(|j| entry(at / columns, j) * b[j * columns + at % columns]).sum()).collect()
    }

    #[test]
    fn solutions_solve_systems() {
        for dim in [1, 2, 5, 17] {
            let mut factor = positive_definite(dim, 3);
            cholesky(&mut factor, dim).unwrap();
            let ignored = {
                let mut other = factor.clone();
                (0..dim * dim).filter(|at| at % dim > at / dim).for_each(|at| other[at] = f64::NAN);
                other
            };
            for columns in [1, 4] {
                let rhs = normals(dim * columns, 4);
                for (transposed, solve) in
                    [(false, solve_lower as fn(&[f64], usize, &mut [f64], usize)), (true, solve_lower_transposed)]
                {
                    let mut x = rhs.clone();
                    solve(&ignored, dim, &mut x, columns);
                    assert!(distance(&product(&factor, transposed, &x, dim), &rhs) < 1e-12);
                }
            }
        }
    }

    #[test]
    fn adjoint_agrees_with_differences() {
        for dim in [1, 2, 3, 6, 11] {
            let a = positive_definite(dim, 7);
            let weights = normals(dim * dim, 8);
            let value = |a: &[f64]| {
                let mut factor = a.to_vec();
                cholesky(&mut factor, dim).unwrap();
                dot(&factor, &weights)
            };
            let mut factor = a.clone();
            cholesky(&mut factor, dim).unwrap();
            let mut adjoint = weights.clone();
            cholesky_adjoint(&factor, &mut adjoint, dim, &mut vec![f64::NAN; 2 * dim]);
            for at in 0..dim * dim {
                let moved = |step: f64| {
                    let mut a = a.clone();
                    a[at] += step;
                    value(&a)
                };
                let h = 1e-3;
                let difference = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
                assert!((difference - adjoint[at]).abs() < 1e-8, "{dim}, {at}: {difference} {}", adjoint[at]);
            }
        }
    }
}
