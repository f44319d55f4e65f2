//! The product of two matrices that all rows share.

use super::super::element::Element;
use super::super::rows::{RowSelection, rows_accumulate, rows_dot};
use super::super::simd::Simd;
use super::{Matrix, lanes_matmul};

/// `out[i · n + j]` = Σₗ a(i, l) b(l, j).
///
/// This is fast if b is contiguous in row-major order, or if the product is one of a vector and a matrix in either
/// order.
pub(crate) fn shared_matmul<T: Element>(
    simd: Simd,
    [m, k, n]: [usize; 3],
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    out: &mut [T],
) {
    if n == 1 && steps(k, b.row, 1) {
        if product_with_vector(simd, [m, k], a, b.data, out) {
            return;
        }
    } else if m == 1 && steps(k, a.col, 1) && product_with_vector(simd, [n, k], b.transposed(), a.data, out) {
        return;
    }
    if steps(k, b.row, n) && steps(n, b.col, 1) {
        // The columns of b are the lanes.
        let rows = Matrix { data: &b.data[..k * n], row: 1, col: 1, lanes: true };
        lanes_matmul(simd, [m, k, 1], n, a, rows, out);
    } else {
        lanes_matmul(simd, [m, k, n], 1, a, b, out);
    }
}

/// Computes out = a x and returns true if a is contiguous in row-major or column-major order.
fn product_with_vector<T: Element>(simd: Simd, [m, k]: [usize; 2], a: Matrix<'_, T>, x: &[T], out: &mut [T]) -> bool {
    if steps(m, a.row, k) && steps(k, a.col, 1) {
        rows_dot(simd, &a.data[..m * k], k, RowSelection::Range(0), &x[..k], out);
    } else if steps(m, a.row, 1) && steps(k, a.col, m) {
        out.fill(T::ZERO);
        rows_accumulate(simd, &a.data[..m * k], m, RowSelection::Range(0), &x[..k], out);
    } else {
        return false;
    }
    true
}

/// Returns whether an axis of this length has this stride.
fn steps(length: usize, stride: usize, expected: usize) -> bool {
    length <= 1 || stride == expected
}
