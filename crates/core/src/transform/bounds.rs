//! Bounds on single elements.
//!
//! | constraint | x | log \|∂x/∂y\| |
//! |---|---|---|
//! | x > a | a + eʸ | y |
//! | x < b | b − eʸ | y |
//! | x ≥ 0, mirrored | \|y\| | 0 |
//! | a < x < b | a + (b − a) σ(y) | log(b − a) + log σ(y) + log σ(−y) |

use burn_tensor::Tensor;
use burn_tensor::activation::{log_sigmoid, sigmoid};

use super::Constrained;

/// Transforms `y` to values above `a`.
pub(super) fn lower(a: f64, y: Tensor<2>) -> Constrained {
    Constrained { values: y.clone().exp() + a, log_jacobian: y.sum() }
}

/// Transforms `y` to values below `b`.
pub(super) fn upper(b: f64, y: Tensor<2>) -> Constrained {
    Constrained { values: y.clone().exp().neg() + b, log_jacobian: y.sum() }
}

/// Transforms `y` to its absolute values. The log-Jacobian is zero.
pub(super) fn mirrored(y: Tensor<2>) -> Constrained {
    Constrained { values: y.clone().abs(), log_jacobian: y.sum() * 0.0 }
}

/// Transforms `y` to values between `a` and `b`.
pub(super) fn interval(a: f64, b: f64, y: Tensor<2>) -> Constrained {
    let elements = y.shape().num_elements() as f64;
    let log_jacobian = (log_sigmoid(y.clone()) + log_sigmoid(y.clone().neg())).sum() + elements * (b - a).ln();
    Constrained { values: sigmoid(y) * (b - a) + a, log_jacobian }
}
