//! The simplex by normalization, xₖ = eʸᵏ/Σⱼ eʸʲ.
//!
//! The transform has one coordinate more than the simplex has degrees of freedom. The sum of the eʸ therefore gets the
//! density of a gamma variate, and the term Σ y − Σ eʸ takes the role of the log-Jacobian.

use burn_tensor::Tensor;
use burn_tensor::activation::softmax;

use super::Constrained;

/// Transforms each row of `y` to a simplex.
pub(super) fn constrain(y: Tensor<2>) -> Constrained {
    Constrained { values: softmax(y.clone(), 1), log_jacobian: (y.clone() - y.exp()).sum() }
}
