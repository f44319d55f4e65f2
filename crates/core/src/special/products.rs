//! Products with logarithms that are zero where a factor is, and their relatives.

use burn_tensor::Tensor;

/// x log y, which is 0 where both are 0, with gradient 0 there.
pub fn xlogy<const D: usize>(x: Tensor<D>, y: Tensor<D>) -> Tensor<D> {
    let (x, y) = broadcast(x, y);
    let both = x.clone().equal_elem(0.0).bool_and(y.clone().equal_elem(0.0));
    x * y.mask_fill(both, 1.0).log()
}

/// x log(1 + y), which is 0 where x = 0 and y = −1, with gradient 0 there.
pub fn xlog1py<const D: usize>(x: Tensor<D>, y: Tensor<D>) -> Tensor<D> {
    let (x, y) = broadcast(x, y);
    let both = x.clone().equal_elem(0.0).bool_and(y.clone().equal_elem(-1.0));
    x * y.mask_fill(both, 0.0).log1p()
}

/// log(1 + x²), also where x² overflows.
pub(crate) fn log1p_square<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    // Beyond 1e9 the one is lost in rounding, in both precisions.
    let size = x.clone().abs();
    let far = size.clone().greater_elem(1e9);
    let near = x.mask_fill(far.clone(), 0.0).square().log1p();
    near.mask_where(far, size.clamp_min(1e9).log() * 2.0)
}

/// Two tensors expanded to their common shape, for masks, which do not broadcast.
pub(crate) fn broadcast<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
    let (of_a, of_b) = (a.dims(), b.dims());
    if of_a == of_b {
        return (a, b);
    }
    let common: [usize; D] = std::array::from_fn(|axis| if of_a[axis] == 1 { of_b[axis] } else { of_a[axis] });
    (a.expand(common), b.expand(common))
}
