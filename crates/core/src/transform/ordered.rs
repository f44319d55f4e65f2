//! Increasing vectors.
//!
//! The transform is x₁ = y₁, xₖ = xₖ₋₁ + e^{yₖ} with log |∂x/∂y| = Σ_{k≥2} yₖ. For positive increasing vectors, x₁ =
//! e^{y₁} and the sum is over all k.

use burn_tensor::Tensor;

use super::Constrained;

/// Transforms each row of `y` to an increasing vector.
pub(super) fn constrain(y: Tensor<2>) -> Constrained {
    let [_, k] = y.dims();
    let first = y.clone().narrow(1, 0, 1);
    if k == 1 {
        return Constrained { values: first, log_jacobian: y.sum() * 0.0 };
    }
    let rest = y.narrow(1, 1, k - 1);
    let values = Tensor::cat(vec![first, rest.clone().exp()], 1).cumsum(1);
    Constrained { values, log_jacobian: rest.sum() }
}

/// Transforms each row of `y` to a positive increasing vector.
pub(super) fn constrain_positive(y: Tensor<2>) -> Constrained {
    Constrained { values: y.clone().exp().cumsum(1), log_jacobian: y.sum() }
}
