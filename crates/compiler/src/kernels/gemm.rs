//! Products of large matrices by the `gemm` crate.
#![expect(unsafe_code, reason = "the crate takes pointers")]

use super::element::Element;

/// A matrix to read: element (i, j) is `data[i · row + j · col]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strided<'a, T> {
    /// The numbers.
    pub(crate) data: &'a [T],
    /// From one row to the next.
    pub(crate) row: usize,
    /// From one column to the next.
    pub(crate) col: usize,
}

/// A matrix to write: element (i, j) is `data[i · row + j · col]`, and no two elements are at the same place.
#[derive(Debug)]
pub(crate) struct StridedMut<'a, T> {
    /// The numbers.
    pub(crate) data: &'a mut [T],
    /// From one row to the next.
    pub(crate) row: usize,
    /// From one column to the next.
    pub(crate) col: usize,
}

/// out = a b, or out += a b if `accumulate`, of an m × k matrix and a k × n matrix.
///
/// # Panics
///
/// If an element is outside its slice or two elements of `out` are at the same place.
pub(crate) fn gemm<T: Element>(
    [m, k, n]: [usize; 3],
    a: Strided<'_, T>,
    b: Strided<'_, T>,
    out: StridedMut<'_, T>,
    accumulate: bool,
) {
    if m == 0 || n == 0 {
        return;
    }
    assert!(inside([m, n], out.row, out.col, out.data.len()), "the result is outside its slice");
    assert!(distinct([m, n], out.row, out.col), "elements of the result are at the same place");
    if k == 0 {
        if !accumulate {
            for i in 0..m {
                for j in 0..n {
                    out.data[i * out.row + j * out.col] = T::ZERO;
                }
            }
        }
        return;
    }
    assert!(inside([m, k], a.row, a.col, a.data.len()), "the left matrix is outside its slice");
    assert!(inside([k, n], b.row, b.col, b.data.len()), "the right matrix is outside its slice");
    // SAFETY: every element (i, j) of the three matrices lies inside its slice, as asserted; strides are not negative, and
    // the last element's offset fits a slice, so strides that matter fit isize. `out` is borrowed mutably and so does not
    // overlap `a` or `b`.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.data.as_mut_ptr(),
            stride(n, out.col),
            stride(m, out.row),
            accumulate,
            a.data.as_ptr(),
            stride(k, a.col),
            stride(m, a.row),
            b.data.as_ptr(),
            stride(n, b.col),
            stride(k, b.row),
            T::ONE,
            T::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// The stride of an axis; of an axis of one element any will do.
fn stride(length: usize, stride: usize) -> isize {
    if length > 1 { stride as isize } else { 1 }
}

/// Whether the last element is in a slice of this length.
fn inside([rows, cols]: [usize; 2], row: usize, col: usize, length: usize) -> bool {
    let last = (rows - 1).checked_mul(row).zip((cols - 1).checked_mul(col)).and_then(|(i, j)| i.checked_add(j));
    last.is_some_and(|last| last < length)
}

/// Whether all elements are at different places: one axis steps over the whole of the other.
fn distinct([rows, cols]: [usize; 2], row: usize, col: usize) -> bool {
    let steps = |length: usize, stride: usize, other: usize| length == 1 || stride > other;
    (cols == 1 || col > 0) && steps(rows, row, (cols - 1) * col)
        || (rows == 1 || row > 0) && steps(cols, col, (rows - 1) * row)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, numbers};
    use super::*;

    fn products_work<T: Element>() {
        for [m, k, n] in [[1, 1, 1], [3, 7, 2], [8, 0, 9], [31, 64, 1], [1, 9, 100], [64, 31, 33], [0, 3, 2]] {
            let (a, b) = (numbers::<T>(1, m * k), numbers::<T>(2, k * n));
            for turned in [false, true] {
                for accumulate in [false, true] {
                    let (row, col) = if turned { (1, m) } else { (k, 1) };
                    let left = Strided { data: &a, row, col };
                    let right = Strided { data: &b, row: n, col: 1 };
                    let before = numbers::<T>(3, m * n);
                    let mut out = before.clone();
                    gemm([m, k, n], left, right, StridedMut { data: &mut out, row: n, col: 1 }, accumulate);
                    let sum = |i: usize, j: usize| -> f64 {
                        (0..k).map(|l| a[i * row + l * col].to_f64() * b[l * n + j].to_f64()).sum()
                    };
                    let before = |i: usize| if accumulate { before[i].to_f64() } else { 0.0 };
                    let expected: Vec<f64> = (0..m * n).map(|i| before(i) + sum(i / n, i % n)).collect();
                    assert_close(&out, &expected, 9.0 * (k + 1) as f64, "gemm");
                }
            }
        }
    }

    #[test]
    fn products() {
        products_work::<f32>();
        products_work::<f64>();
    }

    #[test]
    #[should_panic(expected = "the left matrix is outside its slice")]
    fn a_matrix_outside_its_slice_is_found() {
        let a = Strided { data: &[1.0_f32; 5], row: 3, col: 1 };
        let b = Strided { data: &[1.0_f32; 6], row: 2, col: 1 };
        gemm([2, 3, 2], a, b, StridedMut { data: &mut [0.0; 4], row: 2, col: 1 }, false);
    }

    #[test]
    #[should_panic(expected = "at the same place")]
    fn elements_at_the_same_place_are_found() {
        let a = Strided { data: &[1.0_f32; 4], row: 2, col: 1 };
        gemm([2, 2, 2], a, a, StridedMut { data: &mut [0.0; 4], row: 1, col: 1 }, false);
    }
}
