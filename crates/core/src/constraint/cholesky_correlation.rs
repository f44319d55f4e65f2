//! The lower Cholesky factor L of a K × K correlation matrix, from canonical partial correlations zᵢⱼ = tanh yᵢⱼ, i > j.
//!
//! Row i: Lᵢⱼ = zᵢⱼ √rᵢⱼ with rᵢⱼ = Π_{l<j} (1 − zᵢₗ²), and Lᵢᵢ = √rᵢᵢ. The free numbers are y₂₁, y₃₁, y₃₂, … row by row.
//! log |∂L/∂y| = Σ_{i>j} [½ log rᵢⱼ + log(1 − zᵢⱼ²)]. The logs of 1 − z² are log 4 + log σ(2y) + log σ(−2y): no cancellation.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;

use super::{Outside, TOLERANCE};

const LN_4: f64 = 2.0 * std::f64::consts::LN_2;

/// log(1 − tanh² y).
fn log_rest(y: f64) -> f64 {
    LN_4 + super::log_sigmoid(2.0 * y) + super::log_sigmoid(-2.0 * y)
}

/// The K of K(K − 1)/2 free numbers.
fn size(free: usize) -> usize {
    (1 + 8 * free).isqrt().div_ceil(2)
}

pub(super) fn constrain(y: &[f64], x: &mut [f64]) {
    let k = size(y.len());
    x.fill(0.0);
    let mut y = y.iter();
    for i in 0..k {
        let mut log_r = 0.0_f64;
        for (j, y) in y.by_ref().take(i).enumerate() {
            x[i * k + j] = y.tanh() * (0.5 * log_r).exp();
            log_r += log_rest(*y);
        }
        x[i * k + i] = (0.5 * log_r).exp();
    }
}

pub(super) fn unconstrain(x: &[f64], y: &mut [f64]) -> Result<(), Outside> {
    let k = x.len().isqrt();
    let mut free = y.iter_mut();
    for i in 0..k {
        let row = &x[i * k..(i + 1) * k];
        if let Some(j) = (i + 1..k).find(|j| row[*j].is_nan() || row[*j].abs() > TOLERANCE) {
            return Err((i * k + j, row[j]));
        }
        let square: f64 = row[..=i].iter().map(|x| x * x).sum();
        if row[i].is_nan() || row[i] <= 0.0 || (square - 1.0).abs() > TOLERANCE {
            return Err((i * k + i, row[i]));
        }
        for (j, y) in free.by_ref().take(i).enumerate() {
            // What is left of the row's unit length, summed from its end: no difference of nearly equal numbers.
            let rest = row[j + 1..=i].iter().map(|x| x * x).sum::<f64>().sqrt();
            *y = (row[j] / rest).asinh();
        }
    }
    Ok(())
}

/// Collected by entry, the factor of log(1 − zᵢⱼ²) is one, and one half more for each zᵢₗ with j < l < i; its derivative is −2 zᵢⱼ.
pub(super) fn log_jacobian(y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
    let mut entries = y.iter().zip(gradient);
    let mut log_jacobian = 0.0;
    for i in 1..size(y.len()) {
        for (j, (y, g)) in entries.by_ref().take(i).enumerate() {
            let times = 1.0 + 0.5 * (i - 1 - j) as f64;
            log_jacobian += times * log_rest(*y);
            *g -= factor * times * 2.0 * y.tanh();
        }
    }
    log_jacobian
}

pub(super) fn on_tensor(y: Tensor<2>) -> (Tensor<2>, Tensor<1>) {
    let [groups, free] = y.dims();
    let k = size(free);
    let column = y.clone().narrow(1, 0, 1);
    let (zero, one) = (column.zeros_like().detach(), column.ones_like().detach());
    let mut entries = vec![one];
    let padding = |entries: &mut Vec<Tensor<2>>, width: usize| {
        if width > 0 {
            entries.push(zero.clone().expand([groups, width]));
        }
    };
    padding(&mut entries, k - 1);
    let mut log_jacobian = None;
    for i in 1..k {
        let row = y.clone().narrow(1, i * (i - 1) / 2, i);
        let log_rest = log_sigmoid(row.clone() * 2.0) + log_sigmoid(row.clone() * -2.0) + LN_4;
        let after = log_rest.clone().cumsum(1);
        let before = after.clone() - log_rest.clone();
        let term = (before.clone() * 0.5 + log_rest).sum();
        log_jacobian = Some(match log_jacobian {
            Some(sum) => sum + term,
            None => term,
        });
        entries.push(row.tanh() * (before * 0.5).exp());
        entries.push((after.narrow(1, i - 1, 1) * 0.5).exp());
        padding(&mut entries, k - 1 - i);
    }
    // A factor is at least 2 × 2, so there is always a second row.
    (Tensor::cat(entries, 1), log_jacobian.unwrap_or_else(|| y.sum() * 0.0))
}
