//! Coordinates in which the coefficients of a linear regression are uncorrelated and have the same scale.
//!
//! The model is y ~ N(Xβ, σ²) with N observations; s² is the residual variance of least squares. With XᵀX/N = LLᵀ and
//! the upper triangular M = s L⁻ᵀ, the coordinates γ with β = Mγ have the covariates W = XM with WᵀW = N s² I. The
//! posterior standard deviation of each γ is about 1/√N.

use crate::Result;

/// The covariates W and the matrix M, both row-major.
pub(crate) struct Whitened {
    /// The covariates W = XM.
    pub(crate) covariates: Vec<f64>,
    /// The matrix M.
    to_beta: Vec<f64>,
    width: usize,
}

impl Whitened {
    /// Returns the coordinates for covariates `x`, one row per observation, and responses `y`.
    ///
    /// # Errors
    ///
    /// Returns an error if the covariates are linearly dependent.
    pub(crate) fn new(x: &[Vec<f64>], y: &[f64]) -> Result<Self> {
        let (n, d) = (x.len() as f64, x.first().map_or(0, Vec::len));
        let mut gram = vec![0.0; d * d];
        for row in x {
            for (k, sum) in gram.iter_mut().enumerate() {
                *sum += row[k / d] * row[k % d] / n;
            }
        }
        let orthonormal = inverse_transpose(&cholesky(&gram, d)?, d);
        let s = residual_sd(&multiply(x, &orthonormal), y, d);
        let to_beta: Vec<f64> = orthonormal.iter().map(|entry| s * entry).collect();
        Ok(Self { covariates: multiply(x, &to_beta), to_beta, width: d })
    }

    /// Returns the coordinates γ = β, with the covariates `x`.
    pub(crate) fn identity(x: &[Vec<f64>]) -> Self {
        let d = x.first().map_or(0, Vec::len);
        let to_beta = (0..d * d).map(|k| f64::from(u8::from(k / d == k % d))).collect();
        Self { covariates: x.concat(), to_beta, width: d }
    }

    /// Returns the number of coefficients.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the rows of M.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.to_beta.chunks_exact(self.width)
    }

    /// Returns β = Mγ.
    pub(crate) fn beta(&self, gamma: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| row.iter().zip(gamma).map(|(m, gamma)| m * gamma).sum();
        self.rows().map(row).collect()
    }
}

/// Returns the lower triangular L with LLᵀ = a.
fn cholesky(a: &[f64], d: usize) -> Result<Vec<f64>> {
    let mut l = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let remainder = a[i * d + j] - (0..j).map(|k| l[i * d + k] * l[j * d + k]).sum::<f64>();
            if i == j && remainder <= 0.0 {
                return Err("the covariates are linearly dependent".into());
            }
            l[i * d + j] = if i == j { remainder.sqrt() } else { remainder / l[j * d + j] };
        }
    }
    Ok(l)
}

/// Returns L⁻ᵀ. Column c is the solution of Lᵀ m = e_c, by back substitution.
fn inverse_transpose(l: &[f64], d: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; d * d];
    for c in 0..d {
        for i in (0..=c).rev() {
            let known: f64 = (i + 1..=c).map(|k| l[k * d + i] * inverse[k * d + c]).sum();
            inverse[i * d + c] = (f64::from(u8::from(i == c)) - known) / l[i * d + i];
        }
    }
    inverse
}

/// Returns x · m, row-major.
fn multiply(x: &[Vec<f64>], m: &[f64]) -> Vec<f64> {
    let entry = |row: &[f64], d: usize, c: usize| row.iter().enumerate().map(|(k, x)| x * m[k * d + c]).sum::<f64>();
    x.iter().flat_map(|row| (0..row.len()).map(move |c| entry(row, row.len(), c))).collect()
}

/// Returns the residual standard deviation of the regression of y on orthonormal columns q (qᵀq = N I), with N − d
/// degrees of freedom.
fn residual_sd(q: &[f64], y: &[f64], d: usize) -> f64 {
    let n = y.len() as f64;
    let mut coefficients = vec![0.0; d];
    for (row, y) in q.chunks_exact(d).zip(y) {
        coefficients.iter_mut().zip(row).for_each(|(sum, q)| *sum += q * y / n);
    }
    let fitted = |row: &[f64]| row.iter().zip(&coefficients).map(|(q, c)| q * c).sum::<f64>();
    let squares: f64 = q.chunks_exact(d).zip(y).map(|(row, y)| (y - fitted(row)).powi(2)).sum();
    (squares / (n - d as f64)).sqrt()
}
