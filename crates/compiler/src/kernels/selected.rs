//! Products with selected rows of parameter matrices, at an integer index of each observation.
//!
//! The rows are read in place in double precision, like the parameters. The functions stop and return `false` at an
//! index that is out of range.

use super::element::Element;
use super::index::row;
use super::simd::{Fma, Simd};

/// The number of independent partial sums of a dot product. The dot products of different lanes are independent too.
const PARTIAL_SUMS: usize = 4;

/// Selected rows of a matrix, one for each lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowsAt<'a> {
    /// The matrix in row-major order.
    pub(crate) matrix: &'a [f64],
    /// The row index of each lane.
    pub(crate) index: &'a [f64],
}

/// `out[lane]` = Σⱼ aⱼ bⱼ over the selected rows, which have `width` numbers.
#[must_use]
pub(crate) fn dot_selected<T: Element>(simd: Simd, [a, b]: [RowsAt<'_>; 2], width: usize, out: &mut [T]) -> bool {
    simd.run(
        #[inline(always)]
        move |fma| {
            for ((out, i), j) in out.iter_mut().zip(a.index).zip(b.index) {
                let rows = (row(a.matrix.len(), width, *i), row(b.matrix.len(), width, *j));
                let (Some(i), Some(j)) = rows else { return false };
                *out = T::from_f64(dot(fma, &a.matrix[i], &b.matrix[j]));
            }
            true
        },
    )
}

#[inline(always)]
fn dot(fma: Fma, a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<PARTIAL_SUMS>(), b.as_chunks::<PARTIAL_SUMS>());
    let mut sums = [0.0; PARTIAL_SUMS];
    for (a, b) in a.iter().zip(b) {
        for k in 0..PARTIAL_SUMS {
            sums[k] = fma.mul_add(a[k], b[k], sums[k]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (a, b)| fma.mul_add(*a, *b, sum));
    sums.iter().fold(rest, |total, sum| total + sum)
}

/// Adds `factor` · `coefficients[lane]` times the selected row of a lane to row `index[lane]` of `acc`.
#[must_use]
pub(crate) fn add_selected<T: Element>(
    simd: Simd,
    rows: RowsAt<'_>,
    coefficients: &[T],
    factor: f64,
    acc: &mut [f64],
    index: &[f64],
    width: usize,
) -> bool {
    simd.run(
        #[inline(always)]
        move |fma| {
            for ((from, to), coefficient) in rows.index.iter().zip(index).zip(coefficients) {
                let ranges = (row(rows.matrix.len(), width, *from), row(acc.len(), width, *to));
                let (Some(from), Some(to)) = ranges else { return false };
                let coefficient = factor * coefficient.to_f64();
                for (acc, x) in acc[to].iter_mut().zip(&rows.matrix[from]) {
                    *acc = fma.mul_add(coefficient, *x, *acc);
                }
            }
            true
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LENGTHS, assert_close, indices, numbers};
    use super::*;

    fn products_work<T: Element>(simd: Simd, width: usize, lanes: usize) {
        let (lengths, factor) = ([13, 7], -1.5);
        let matrices = lengths.map(|length| numbers::<f64>(length as u64, length * width));
        let index = lengths.map(|length| indices(length as u64, lanes, length));
        let integers = index.clone().map(|index| index.iter().map(|i| *i as f64).collect::<Vec<_>>());
        let at = |which: usize, lane: usize, j: usize| matrices[which][index[which][lane] * width + j];
        let rows = |which: usize| RowsAt { matrix: &matrices[which], index: &integers[which] };

        let mut out = vec![T::NAN; lanes];
        assert!(dot_selected(simd, [rows(0), rows(1)], width, &mut out));
        let expected: Vec<f64> =
            (0..lanes).map(|lane| (0..width).map(|j| at(0, lane, j) * at(1, lane, j)).sum()).collect();
        assert_close(&out, &expected, 3.0 * width as f64, "dot");

        let coefficients = numbers::<T>(3, lanes);
        let before = numbers::<f64>(4, lengths[0] * width);
        let (mut acc, mut expected) = (before.clone(), before);
        assert!(add_selected(simd, rows(1), &coefficients, factor, &mut acc, &integers[0], width));
        for lane in 0..lanes {
            for j in 0..width {
                expected[index[0][lane] * width + j] += factor * coefficients[lane].to_f64() * at(1, lane, j);
            }
        }
        assert_close(&acc, &expected, 3.0 * lanes as f64, "add");
    }

    #[test]
    fn products_with_selected_rows() {
        for simd in Simd::all() {
            for width in [1, 4, 8, 20, 33] {
                for lanes in LENGTHS {
                    products_work::<f32>(simd, width, lanes);
                    products_work::<f64>(simd, width, lanes);
                }
            }
        }
    }

    #[test]
    fn index_out_of_range_is_detected() {
        let matrix = [1.0; 4];
        for wrong in [-1.0, 2.0, f64::NAN] {
            let (right, wrong) =
                (RowsAt { matrix: &matrix, index: &[1.0] }, RowsAt { matrix: &matrix, index: &[wrong] });
            for rows in [[right, wrong], [wrong, right]] {
                assert!(!dot_selected(Simd::new(), rows, 2, &mut [0.0_f32]));
                let mut acc = [0.0; 4];
                assert!(!add_selected(Simd::new(), rows[0], &[1.0_f32], 1.0, &mut acc, rows[1].index, 2));
            }
        }
    }
}
