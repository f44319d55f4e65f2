//! The lower Cholesky factor L of a K × K correlation matrix, from canonical partial correlations zᵢⱼ = tanh yᵢⱼ, i >
//! j.
//!
//! Row i is Lᵢⱼ = zᵢⱼ √rᵢⱼ with rᵢⱼ = Π_{l<j} (1 − zᵢₗ²), and Lᵢᵢ = √rᵢᵢ. The coordinates are y₂₁, y₃₁, y₃₂, …, row by
//! row. The log-Jacobian is log |∂L/∂y| = Σ_{i>j} [½ log rᵢⱼ + log(1 − zᵢⱼ²)]. The logarithm log(1 − z²) = log 4 + log
//! σ(2y) + log σ(−2y) is computed without cancellation.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;

use super::Constrained;

/// The constant log 4.
const LN_4: f64 = 2.0 * std::f64::consts::LN_2;

/// Returns the size K of a factor with K(K − 1)/2 coordinates.
fn size(free: usize) -> usize {
    (1 + 8 * free).isqrt().div_ceil(2)
}

/// Transforms each row of `y` to a Cholesky factor.
pub(super) fn constrain(y: Tensor<2>) -> Constrained {
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
        let log_remaining_weight = log_sigmoid(row.clone() * 2.0) + log_sigmoid(row.clone() * -2.0) + LN_4;
        let after = log_remaining_weight.clone().cumsum(1);
        let before = after.clone() - log_remaining_weight.clone();
        let term = (before.clone() * 0.5 + log_remaining_weight).sum();
        log_jacobian = Some(match log_jacobian {
            Some(sum) => sum + term,
            None => term,
        });
        entries.push(row.tanh() * (before * 0.5).exp());
        entries.push((after.narrow(1, i - 1, 1) * 0.5).exp());
        padding(&mut entries, k - 1 - i);
    }
    // A factor is at least 2 × 2, so the loop runs at least once.
    let log_jacobian = log_jacobian.unwrap_or_else(|| y.sum() * 0.0);
    Constrained { values: Tensor::cat(entries, 1), log_jacobian }
}
