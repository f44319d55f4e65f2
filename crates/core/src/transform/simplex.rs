//! The simplex by stick breaking: zₖ = σ(yₖ − log(K − k)), xₖ = zₖ Π_{j<k} (1 − zⱼ), x_K = Π (1 − zⱼ).
//!
//! The coordinates y = 0 are mapped to the uniform simplex. The log-Jacobian is log |∂x/∂y| = Σₖ [log zₖ + log(1 − zₖ)
//! + Σ_{j<k} log(1 − zⱼ)]. The computation uses logarithms, so that small entries keep their relative accuracy.

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;

use super::Constrained;

/// Transforms each row of `y` to a simplex.
pub(super) fn constrain(y: Tensor<2>) -> Constrained {
    let [_, free] = y.dims();
    // The shifts log(K − k) = log(free), …, log 1 are computed from the argument, so that they have its device and
    // type.
    let position = y.ones_like().detach().cumsum(1);
    let t = y - (position.neg() + (free as f64 + 1.0)).log();
    let (log_z, log_remaining_weight) = (log_sigmoid(t.clone()), log_sigmoid(t.neg()));
    // The sums of log(1 − zⱼ) over j ≤ k and over j < k.
    let after = log_remaining_weight.clone().cumsum(1);
    let before = after.clone() - log_remaining_weight.clone();
    let log_jacobian = (log_z.clone() + log_remaining_weight + before.clone()).sum();
    let values = Tensor::cat(vec![(log_z + before).exp(), after.narrow(1, free - 1, 1).exp()], 1);
    Constrained { values, log_jacobian }
}
