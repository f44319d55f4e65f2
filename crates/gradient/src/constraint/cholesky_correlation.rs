//! The lower Cholesky factor L of a K × K correlation matrix, from canonical partial correlations zᵢⱼ = tanh yᵢⱼ, i >
//! j.
//!
//! Row i is Lᵢⱼ = zᵢⱼ √rᵢⱼ with rᵢⱼ = Π_{l<j} (1 − zᵢₗ²), and Lᵢᵢ = √rᵢᵢ. The coordinates are y₂₁, y₃₁, y₃₂, … row by
//! row. log |∂L/∂y| = Σ_{i>j} [½ log rᵢⱼ + log(1 − zᵢⱼ²)]. To avoid cancellation, log(1 − z²) is computed as log 4 +
//! log σ(2y) + log σ(−2y).

use std::fmt;

use super::{Groups, OutsideError, TOLERANCE, Transform, log_sigmoid};

pub(super) struct CholeskyCorrelation;

impl Transform for CholeskyCorrelation {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lower Cholesky factor of a correlation matrix")
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        match shape {
            [.., rows, columns] if rows == columns && *rows >= 2 => {
                let count = shape.iter().product::<usize>() / (rows * rows);
                Ok(Groups { count, values: rows * rows, free: rows * (rows - 1) / 2 })
            }
            _ => Err("a Cholesky factor is square in its last two axes, and at least 2 × 2"),
        }
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        let k = size(y.len());
        x.fill(0.0);
        let mut y = y.iter();
        for i in 0..k {
            let mut log_r = 0.0_f64;
            for (j, y) in y.by_ref().take(i).enumerate() {
                x[i * k + j] = y.tanh() * (0.5 * log_r).exp();
                log_r += log_remaining_weight(*y);
            }
            x[i * k + i] = (0.5 * log_r).exp();
        }
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        let k = x.len().isqrt();
        let mut free = y.iter_mut();
        for i in 0..k {
            let row = &x[i * k..(i + 1) * k];
            if let Some(j) = (i + 1..k).find(|j| row[*j].is_nan() || row[*j].abs() > TOLERANCE) {
                return Err(OutsideError { index: i * k + j, value: row[j] });
            }
            let square: f64 = row[..=i].iter().map(|x| x * x).sum();
            if row[i].is_nan() || row[i] <= 0.0 || (square - 1.0).abs() > TOLERANCE {
                return Err(OutsideError { index: i * k + i, value: row[i] });
            }
            for (j, y) in free.by_ref().take(i).enumerate() {
                // The remaining length of the row is summed from its end, which avoids a difference of nearly equal
                // numbers.
                let rest = row[j + 1..=i].iter().map(|x| x * x).sum::<f64>().sqrt();
                *y = (row[j] / rest).asinh();
            }
        }
        Ok(())
    }

    // The total factor of log(1 − zᵢⱼ²) is one, plus one half for each zᵢₗ with j < l < i. The derivative of the
    // logarithm is −2 zᵢⱼ.
    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        let mut entries = y.iter().zip(gradient);
        let mut log_jacobian = 0.0;
        for i in 1..size(y.len()) {
            for (j, (y, g)) in entries.by_ref().take(i).enumerate() {
                let multiplicity = 1.0 + 0.5 * (i - 1 - j) as f64;
                log_jacobian += multiplicity * log_remaining_weight(*y);
                *g -= factor * multiplicity * 2.0 * y.tanh();
            }
        }
        log_jacobian
    }

    /// The first row and the upper triangle are constant.
    fn is_fixed(&self, groups: Groups, index: usize) -> bool {
        let size = groups.values.isqrt();
        let (row, column) = (index / size, index % size);
        column > row || row == 0
    }
}

const LN_4: f64 = 2.0 * std::f64::consts::LN_2;

/// Returns log(1 − tanh² y).
fn log_remaining_weight(y: f64) -> f64 {
    LN_4 + log_sigmoid(2.0 * y) + log_sigmoid(-2.0 * y)
}

/// Returns the size K of the matrix with K(K − 1)/2 coordinates.
fn size(free: usize) -> usize {
    (1 + 8 * free).isqrt().div_ceil(2)
}
