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
    threads: usize,
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
    let parallelism = if threads > 1 { gemm::Parallelism::Rayon(threads) } else { gemm::Parallelism::None };
    // SAFETY: every element (i, j) of the three matrices lies inside its slice, as asserted; strides are not negative, and
    // the last element's offset fits a slice, so strides that matter fit isize. `out` is borrowed mutably and so does not
    // overlap `a` or `b`, and its elements are at different places, so that threads write to different ones.
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
            parallelism,
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
