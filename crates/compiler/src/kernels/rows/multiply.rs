//! Products of rows, read where they lie, with a matrix.
//!
//! Columns of the matrix are copied together, two vectors of them at a time, so that the sums of [`TOGETHER`] rows and these columns stay in
//! registers while both are read in order.

use super::super::element::Element;
use super::super::simd::Simd;
use super::{Lines, Rows, TOGETHER};

/// Rows of the matrix whose columns are copied together: more would not stay in the near caches.
const DEPTH: usize = 1024;
/// Columns that are summed at once on no machine.
const WIDEST: usize = 64;

/// A matrix of which element (l, j) is `data[l · row + j · col]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strided<'a, T> {
    /// The numbers.
    pub(crate) data: &'a [T],
    /// From one row to the next.
    pub(crate) row: usize,
    /// From one column to the next.
    pub(crate) col: usize,
}

/// Numbers that [`rows_multiply`] needs for copies of columns of a matrix with this many rows.
pub(crate) fn panel_size(width: usize) -> usize {
    width.min(DEPTH) * WIDEST
}

/// `out[j · t + i]` = Σₗ xᵢₗ w(l, j), of t rows.
pub(crate) fn rows_multiply<T: Element>(
    simd: Simd,
    (table, width, lines): (&[T], usize, Lines<'_>),
    matrix: Strided<'_, T>,
    panel: &mut [T],
    (out, t): (&mut [T], usize),
) {
    if width == 0 || t == 0 {
        return out.fill(T::ZERO);
    }
    simd.run_vectors(Multiply { rows: Rows { table, width, lines }, matrix, panel, out, t });
}

struct Multiply<'a, T> {
    rows: Rows<'a, T>,
    matrix: Strided<'a, T>,
    panel: &'a mut [T],
    out: &'a mut [T],
    t: usize,
}

impl<T: Element> pulp::WithSimd for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, simd: S) {
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let (width, columns) = (self.rows.width, self.out.len() / self.t);
        for depth in (0..width).step_by(DEPTH) {
            let depth = depth..width.min(depth + DEPTH);
            let mut first = 0;
            while columns - first > lanes {
                self.columns::<S, 2>(simd, depth.clone(), first..columns.min(first + 2 * lanes));
                first = columns.min(first + 2 * lanes);
            }
            if first < columns {
                self.columns::<S, 1>(simd, depth, first..columns);
            }
        }
    }
}

impl<T: Element> Multiply<'_, T> {
    /// The part of the products with these rows and columns of the matrix, which make V vectors.
    #[inline(always)]
    fn columns<S: pulp::Simd, const V: usize>(
        &mut self,
        simd: S,
        depth: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
    ) {
        let Self { rows, matrix, panel, out, t } = self;
        let wide = V * size_of::<T::Vector<S>>() / size_of::<T>();
        let panel = &mut panel[..depth.len() * wide];
        for (l, panel) in depth.clone().zip(panel.chunks_exact_mut(wide)) {
            let row = &matrix.data[l * matrix.row..];
            let (copies, rest) = panel.split_at_mut(columns.len());
            if matrix.col == 1 && columns.len() == wide {
                let row = T::vectors::<S>(&row[columns.clone()]).0;
                T::vectors_mut::<S>(copies).0.iter_mut().zip(row).take(V).for_each(|(copy, row)| *copy = *row);
            } else if matrix.col == 1 {
                copies.copy_from_slice(&row[columns.clone()]);
            } else {
                for (copy, j) in copies.iter_mut().zip(columns.clone()) {
                    *copy = row[j * matrix.col];
                }
            }
            rest.fill(T::ZERO);
        }
        let panel = T::vectors::<S>(panel).0.as_chunks::<V>().0;
        for first in (0..*t).step_by(TOGETHER) {
            let count = TOGETHER.min(*t - first);
            if depth.start == 0 && columns.start == 0 {
                (first..first + count).for_each(|i| rows.fetch(i));
            }
            // Where there are fewer rows, the last one stands in for the others.
            let x: [&[T]; TOGETHER] = std::array::from_fn(
                #[inline(always)]
                |q| &rows.get(first + q.min(count - 1))[depth.clone()],
            );
            let sums = products::<T, S, V>(simd, panel, x);
            let sums: [&[T]; TOGETHER] = std::array::from_fn(
                #[inline(always)]
                |q| T::numbers::<S>(&sums[q]),
            );
            for (c, j) in columns.clone().enumerate() {
                let out = &mut out[j * *t + first..][..count];
                for (out, sums) in out.iter_mut().zip(&sums) {
                    *out = if depth.start == 0 { sums[c] } else { *out + sums[c] };
                }
            }
        }
    }
}

/// Σₗ x_q(l) · (vectors of row l of the panel), for each q.
#[inline(always)]
fn products<T: Element, S: pulp::Simd, const V: usize>(
    simd: S,
    panel: &[[T::Vector<S>; V]],
    [x0, x1, x2, x3, x4, x5]: [&[T]; TOGETHER],
) -> [[T::Vector<S>; V]; TOGETHER] {
    let mut sums = [[T::splat(simd, T::ZERO); V]; TOGETHER];
    for ((((((w, x0), x1), x2), x3), x4), x5) in panel.iter().zip(x0).zip(x1).zip(x2).zip(x3).zip(x4).zip(x5) {
        let x = [*x0, *x1, *x2, *x3, *x4, *x5];
        for q in 0..TOGETHER {
            let x = T::splat(simd, x[q]);
            for v in 0..V {
                sums[q][v] = T::vector_mul_add(simd, x, w[v], sums[q][v]);
            }
        }
    }
    sums
}
