//! Coordinates in which the coefficients of a linear regression are independent and of one scale.
//!
//! y ~ N(Xβ, σ²) with N rows and s² the residual variance of least squares. With XᵀX/N = LLᵀ and M = s L⁻ᵀ, upper triangular,
//! β = Mγ and W = XM have WᵀW = N s² I: the posterior standard deviation of each γ is about 1/√N.

use crate::Result;

/// W and M, both row-major.
pub(crate) struct Whitened {
    /// W = XM.
    pub(crate) covariates: Vec<f64>,
    /// M.
    to_beta: Vec<f64>,
    width: usize,
}

impl Whitened {
    /// The coordinates for covariates `x`, a row per observation, and answers `y`.
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

    /// How many coefficients there are.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The rows of M.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.to_beta.chunks_exact(self.width)
    }

    /// β = Mγ.
    pub(crate) fn beta(&self, gamma: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| row.iter().zip(gamma).map(|(m, gamma)| m * gamma).sum();
        self.rows().map(row).collect()
    }
}

/// The lower triangular L with LLᵀ = a.
fn cholesky(a: &[f64], d: usize) -> Result<Vec<f64>> {
    let mut l = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let rest = a[i * d + j] - (0..j).map(|k| l[i * d + k] * l[j * d + k]).sum::<f64>();
            if i == j && rest <= 0.0 {
                return Err("the covariates are linearly dependent".into());
            }
            l[i * d + j] = if i == j { rest.sqrt() } else { rest / l[j * d + j] };
        }
    }
    Ok(l)
}

/// L⁻ᵀ: column c solves Lᵀ m = e_c, from the last row up.
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

/// x · m, row-major.
fn multiply(x: &[Vec<f64>], m: &[f64]) -> Vec<f64> {
    let entry = |row: &[f64], d: usize, c: usize| row.iter().enumerate().map(|(k, x)| x * m[k * d + c]).sum::<f64>();
    x.iter().flat_map(|row| (0..row.len()).map(move |c| entry(row, row.len(), c))).collect()
}

/// The residual standard deviation of y on orthonormal columns q (qᵀq = N I), with N − d degrees of freedom.
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
