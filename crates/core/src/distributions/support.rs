//! Log densities outside the support and at its boundaries.

use burn_tensor::{Bool, Tensor};

use super::param::{Combine, Param};

/// Returns the log density `inside` for values in the support, and −∞ for values where `outside` is true.
///
/// Values outside are replaced by `placeholder`, a value in the support, before `inside` is evaluated. The gradient
/// there with respect to the value and the parameters is zero.
pub(super) fn within<const D: usize>(
    value: Tensor<D>,
    outside: Tensor<D, Bool>,
    placeholder: f64,
    inside: impl FnOnce(Tensor<D>) -> Tensor<D>,
) -> Tensor<D> {
    let log_prob = inside(value.mask_fill(outside.clone(), placeholder));
    minus_infinity(log_prob, outside)
}

/// Replaces `log_prob` by −∞ where `outside` is true. The shape of `outside` may broadcast to that of `log_prob`.
pub(super) fn minus_infinity<const D: usize>(log_prob: Tensor<D>, outside: Tensor<D, Bool>) -> Tensor<D> {
    let dims = log_prob.dims();
    let outside = if outside.dims() == dims { outside } else { outside.expand(dims) };
    log_prob.mask_fill(outside, f64::NEG_INFINITY)
}

/// Returns the log density `inside` for rows without a negative number, and −∞ for other rows, like [`within`].
pub(super) fn within_rows(
    value: Tensor<2>,
    placeholder: f64,
    inside: impl FnOnce(Tensor<2>) -> Tensor<2>,
) -> Tensor<1> {
    let outside = value.clone().lower_elem(0.0).any_dim(1);
    let (row, dims) = (outside.clone(), value.dims());
    let log_prob = inside(value.mask_fill(row.expand(dims), placeholder));
    minus_infinity(log_prob, outside).squeeze_dim::<1>(1)
}

/// Returns zᶜ for z ≥ 0. At z = 0, where the derivative may not exist, the value and the gradient are 0.
pub(super) fn power<const D: usize>(z: Tensor<D>, c: &Param<D>) -> Tensor<D> {
    let zero = z.clone().equal_elem(0.0);
    let positive = z.mask_fill(zero.clone(), 1.0).log().times(c).exp();
    let dims = positive.dims();
    let zero = if zero.dims() == dims { zero } else { zero.expand(dims) };
    positive.mask_fill(zero, 0.0)
}
