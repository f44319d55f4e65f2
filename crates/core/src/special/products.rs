//! Products with logarithms, and related functions.

use burn_tensor::Tensor;

/// Returns x log y. Where both arguments are 0, the result and its gradient are 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::{special::xlogy, zeros};
///
/// assert_eq!(xlogy(zeros([1]), zeros([1])).into_scalar::<f64>(), 0.0);
/// ```
pub fn xlogy<const D: usize>(x: Tensor<D>, y: Tensor<D>) -> Tensor<D> {
    let (x, y) = broadcast(x, y);
    let both = x.clone().equal_elem(0.0).bool_and(y.clone().equal_elem(0.0));
    x * y.mask_fill(both, 1.0).log()
}

/// Returns x log(1 + y). Where x = 0 and y = −1, the result and its gradient are 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::xlog1py, zeros};
///
/// assert_eq!(xlog1py(zeros([1]), full([1], -1.0)).into_scalar::<f64>(), 0.0);
/// ```
pub fn xlog1py<const D: usize>(x: Tensor<D>, y: Tensor<D>) -> Tensor<D> {
    let (x, y) = broadcast(x, y);
    let both = x.clone().equal_elem(0.0).bool_and(y.clone().equal_elem(-1.0));
    x * y.mask_fill(both, 0.0).log1p()
}

/// Returns log(1 + x²), also where x² overflows.
pub(crate) fn log1p_square<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    // Beyond 1e9, 1 + x² rounds to x² in both precisions.
    let size = x.clone().abs();
    let far = size.clone().greater_elem(1e9);
    let near = x.mask_fill(far.clone(), 0.0).square().log1p();
    near.mask_where(far, size.clamp_min(1e9).log() * 2.0)
}

/// Expands two tensors to their common shape. Masks require this because they do not broadcast.
pub(crate) fn broadcast<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
    let (of_a, of_b) = (a.dims(), b.dims());
    if of_a == of_b {
        return (a, b);
    }
    let common: [usize; D] = std::array::from_fn(|axis| if of_a[axis] == 1 { of_b[axis] } else { of_a[axis] });
    (a.expand(common), b.expand(common))
}
