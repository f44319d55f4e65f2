//! What happens outside the support, and at its edges.

use burn_tensor::{Bool, Tensor};

use super::param::{Combine, Param};

/// A density on part of the line. `inside` is evaluated with `elsewhere` in place of values outside; the log density
/// there is −∞, with gradient zero to value and parameters.
pub(super) fn within<const D: usize>(
    value: Tensor<D>,
    outside: Tensor<D, Bool>,
    elsewhere: f64,
    inside: impl FnOnce(Tensor<D>) -> Tensor<D>,
) -> Tensor<D> {
    let log_prob = inside(value.mask_fill(outside.clone(), elsewhere));
    minus_infinity(log_prob, outside)
}

/// −∞ where `outside`, which may be of a shape that broadcasts to that of `log_prob`.
pub(super) fn minus_infinity<const D: usize>(log_prob: Tensor<D>, outside: Tensor<D, Bool>) -> Tensor<D> {
    let dims = log_prob.dims();
    let outside = if outside.dims() == dims { outside } else { outside.expand(dims) };
    log_prob.mask_fill(outside, f64::NEG_INFINITY)
}

/// A density over rows of numbers that are not negative: −∞ for rows where one is, as in [`within`].
pub(super) fn within_rows(value: Tensor<2>, elsewhere: f64, inside: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Tensor<1> {
    let outside = value.clone().lower_elem(0.0).any_dim(1);
    let (row, dims) = (outside.clone(), value.dims());
    let log_prob = inside(value.mask_fill(row.expand(dims), elsewhere));
    minus_infinity(log_prob, outside).squeeze_dim::<1>(1)
}

/// zᶜ for z ≥ 0, with value and gradient 0 at z = 0, where the derivative of zᶜ may not exist.
pub(super) fn power<const D: usize>(z: Tensor<D>, c: &Param<D>) -> Tensor<D> {
    let zero = z.clone().equal_elem(0.0);
    let positive = z.mask_fill(zero.clone(), 1.0).log().times(c).exp();
    let dims = positive.dims();
    let zero = if zero.dims() == dims { zero } else { zero.expand(dims) };
    positive.mask_fill(zero, 0.0)
}
