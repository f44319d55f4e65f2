//! Triangular systems with a shared factor and a right-hand side for each observation.

use crate::kernels::element::Element;
use crate::kernels::rows::Strided;
use crate::kernels::simd::{Fma, Simd};

/// Replaces B by L⁻¹ B, or by L⁻ᵀ B if `transposed` is true. The right-hand side has `dim` rows of `width` numbers: all
/// columns of all observations. Entries of the factor above the diagonal are not read.
pub(crate) fn lanes_solve<T: Element>(
    simd: Simd,
    dim: usize,
    transposed: bool,
    factor: Strided<'_, T>,
    rhs: &mut [T],
    width: usize,
) {
    simd.run(move |fma| {
        for step in 0..dim {
            if transposed {
                let i = dim - 1 - step;
                let (before, rest) = rhs.split_at_mut(i * width);
                let row = &mut rest[..width];
                divide(row, entry(&factor, i, i));
                for j in 0..i {
                    subtract(fma, &mut before[j * width..][..width], entry(&factor, i, j), row);
                }
            } else {
                let (before, rest) = rhs.split_at_mut(step * width);
                let row = &mut rest[..width];
                for j in 0..step {
                    subtract(fma, row, entry(&factor, step, j), &before[j * width..][..width]);
                }
                divide(row, entry(&factor, step, step));
            }
        }
    });
}

#[inline(always)]
fn entry<T: Element>(factor: &Strided<'_, T>, i: usize, j: usize) -> T {
    factor.data[i * factor.row + j * factor.col]
}

/// Subtracts c x from y.
#[inline(always)]
fn subtract<T: Element>(fma: Fma, y: &mut [T], c: T, x: &[T]) {
    let c = -c;
    for (y, x) in y.iter_mut().zip(x) {
        *y = fma.mul_add(c, *x, *y);
    }
}

#[inline(always)]
fn divide<T: Element>(x: &mut [T], c: T) {
    x.iter_mut().for_each(|x| *x = *x / c);
}
