//! Cholesky factorization.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::triangular;
use crate::vector::{add_scaled, dot};

/// The Cholesky factor of a symmetric positive definite matrix A: the lower triangular L with L Lᵀ = A.
///
/// It is computed row by row:
///
/// ```text
/// L_ij = (A_ij − Σ_{k<j} L_ik L_jk) / L_jj,   L_ii = √(A_ii − Σ_{k<i} L_ik²)
/// ```
///
/// The cost is d³/3 multiplications, as dot products of contiguous rows. Vectors passed to the methods must have as
/// many elements as the matrix has rows.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::Cholesky;
///
/// // [4 2; 2 5] = L Lᵀ with L = [2 0; 1 2].
/// let cholesky = Cholesky::new(&[4.0, 2.0, 2.0, 5.0], 2).unwrap();
/// assert_eq!(cholesky.factor(), [2.0, 0.0, 1.0, 2.0]);
/// let mut v = [8.0, 12.0];
/// cholesky.solve(&mut v);
/// assert_eq!(v, [1.0, 2.0]);
/// assert!((cholesky.log_determinant() - 16.0_f64.ln()).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cholesky {
    dim: usize,
    factor: Vec<f64>,
}

impl Cholesky {
    /// Computes the factor of `matrix`, which has `dim` rows. Only the lower triangle is read.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrix is not positive definite, or if it does not have `dim`² entries.
    pub fn new(matrix: &[f64], dim: usize) -> Result<Self, Error> {
        let mut cholesky = Self { dim, factor: vec![0.0; dim * dim] };
        cholesky.refactor(matrix)?;
        Ok(cholesky)
    }

    /// Computes the factor of another matrix of the same size without an allocation.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`new`](Self::new). The factor is then invalid.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::numerics::Cholesky;
    ///
    /// let mut cholesky = Cholesky::new(&[4.0], 1).unwrap();
    /// cholesky.refactor(&[9.0]).unwrap();
    /// assert_eq!(cholesky.factor(), [3.0]);
    /// ```
    pub fn refactor(&mut self, matrix: &[f64]) -> Result<(), Error> {
        let Self { dim, factor } = self;
        if matrix.len() != factor.len() {
            return Err(Error::Length { dim: *dim, expected: factor.len(), found: matrix.len() });
        }
        factor.copy_from_slice(matrix);
        triangular::cholesky(factor, *dim)
    }

    /// Returns the number of rows.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns L in row-major order, with zeros above the diagonal.
    pub fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// Writes L v to `out`.
    pub fn product(&self, v: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = dot(&self.row(i)[..=i], &v[..=i]);
        }
    }

    /// Writes Lᵀ v to `out`.
    pub fn transpose_product(&self, v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (i, v) in v.iter().enumerate() {
            add_scaled(&mut out[..=i], *v, &self.row(i)[..=i]);
        }
    }

    /// Replaces v by L⁻¹ v.
    pub fn solve_lower(&self, v: &mut [f64]) {
        for i in 0..self.dim {
            let row = self.row(i);
            v[i] = (v[i] - dot(&row[..i], &v[..i])) / row[i];
        }
    }

    /// Replaces v by L⁻ᵀ v.
    pub fn solve_upper(&self, v: &mut [f64]) {
        for i in (0..self.dim).rev() {
            let row = self.row(i);
            v[i] /= row[i];
            let solved = v[i];
            add_scaled(&mut v[..i], -solved, &row[..i]);
        }
    }

    /// Replaces v by A⁻¹ v.
    pub fn solve(&self, v: &mut [f64]) {
        self.solve_lower(v);
        self.solve_upper(v);
    }

    /// Writes A⁻¹ to `out` in row-major order.
    pub fn inverse(&self, out: &mut [f64]) {
        out.fill(0.0);
        for (i, row) in out.chunks_exact_mut(self.dim).enumerate() {
            row[i] = 1.0;
            self.solve(row);
        }
    }

    /// Returns log det A.
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.factor.iter().step_by(self.dim + 1).map(|pivot| pivot.ln()).sum::<f64>()
    }

    /// Returns row `i` of L.
    fn row(&self, i: usize) -> &[f64] {
        &self.factor[i * self.dim..(i + 1) * self.dim]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{distance, matrix_of, normals, positive_definite, product};

    #[test]
    fn factor_solutions_inverse_and_determinant_agree_with_the_matrix() {
        for dim in [1, 2, 7, 20] {
            let a = positive_definite(dim, dim as u64);
            let cholesky = Cholesky::new(&a, dim).unwrap();
            let mut half = vec![0.0; dim];
            let rebuilt = matrix_of(dim, |v| {
                cholesky.transpose_product(v, &mut half);
                cholesky.product(&half, v);
            });
            assert!(distance(&rebuilt, &a) < 1e-13);
            let v = normals(dim, 5);
            let mut solved = product(&a, &v);
            cholesky.solve(&mut solved);
            assert!(distance(&solved, &v) < 1e-12);
            let mut inverse = vec![0.0; dim * dim];
            cholesky.inverse(&mut inverse);
            let identity = matrix_of(dim, |v| v.copy_from_slice(&product(&a, &product(&inverse, v))));
            assert!(distance(&identity, &matrix_of(dim, |_| ())) < 1e-12);
        }
        let cholesky = Cholesky::new(&[4.0, 2.0, 2.0, 5.0], 2).unwrap();
        assert_eq!(cholesky.factor(), [2.0, 0.0, 1.0, 2.0]);
        assert!((cholesky.log_determinant() - 16.0_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn matrices_that_are_not_positive_definite_are_rejected() {
        let error = |matrix: &[f64]| Cholesky::new(matrix, 2).unwrap_err();
        assert_eq!(error(&[1.0, 1.0, 1.0, 1.0]), Error::NotPositiveDefinite { row: 1, pivot: 0.0 });
        assert_eq!(error(&[-1.0, 0.0, 0.0, 1.0]), Error::NotPositiveDefinite { row: 0, pivot: -1.0 });
        assert!(error(&[f64::NAN, 0.0, 0.0, 1.0]).to_string().contains("row 0"));
        assert!(error(&[1.0, 2.0]).to_string().contains("has 4 numbers, but 2"));
    }
}
