//! Unit vectors, x = y/‖y‖.
//!
//! The transform has one coordinate more than the unit vector has degrees of freedom. The length of y therefore gets
//! the density exp(−½‖y‖²), as in Stan. Under a uniform x, y is then standard normal. The term −½ Σ y² takes the role
//! of the log-Jacobian.

use burn_tensor::Tensor;

use super::Constrained;

/// Transforms each row of `y` to a unit vector.
pub(super) fn constrain(y: Tensor<2>) -> Constrained {
    let squares = y.clone().square().sum_dim(1);
    Constrained { values: y / squares.clone().sqrt(), log_jacobian: squares.sum() * -0.5 }
}
