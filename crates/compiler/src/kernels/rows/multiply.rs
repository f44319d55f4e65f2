//! Products of rows, read in place, with a matrix.
//!
//! Columns of the matrix are packed, two vectors at a time, so that the sums of [`GROUP`] rows and these columns stay
//! in registers and both factors are read sequentially. All columns are multiplied with a block of rows before the next
//! block is read, which is prefetched meanwhile.

use std::ops::Range;

use super::super::element::Element;
use super::super::simd::Simd;
use super::{GROUP, Rows, add_products};

/// The maximum number of matrix rows that are packed together. Larger panels would exceed the near caches.
const DEPTH: usize = 1024;
/// The maximum number of packed columns.
const COLUMNS: usize = 256;
/// A multiple of this number of columns consists of whole strips for any instruction set.
const WIDEST: usize = 32;
/// The size in bytes of a block of rows, which should fit the near caches together with the next block and some
/// columns.
const BLOCK: usize = 128 << 10;
/// The unroll factor of the inner loop. It reduces the loop overhead, which matters if two threads share a core.
const UNROLLED: usize = 4;

/// A matrix. Element (l, j) is `data[l · row + j · col]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strided<'a, T> {
    /// The values.
    pub(crate) data: &'a [T],
    /// The stride between rows.
    pub(crate) row: usize,
    /// The stride between columns.
    pub(crate) col: usize,
}

/// Returns the numbers that [`rows_multiply`] needs for the packed columns of a matrix of this size.
pub(crate) fn panels_size(width: usize, columns: usize) -> usize {
    width.min(DEPTH) * columns.next_multiple_of(WIDEST).min(COLUMNS)
}

/// `out[j · t + i]` = Σₗ xᵢₗ w(l, j), for t rows.
pub(crate) fn rows_multiply<T: Element>(
    simd: Simd,
    rows: Rows<'_, T>,
    matrix: Strided<'_, T>,
    panels: &mut [T],
    out: &mut [T],
    t: usize,
) {
    if rows.width == 0 || t == 0 {
        return out.fill(T::ZERO);
    }
    simd.run_vectors(Multiply { rows, matrix, panels, out, t });
}

struct Multiply<'a, T> {
    rows: Rows<'a, T>,
    matrix: Strided<'a, T>,
    panels: &'a mut [T],
    out: &'a mut [T],
    t: usize,
}

impl<T: Element> pulp::WithSimd for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { rows, matrix, panels, out, t } = self;
        let strip = 2 * size_of::<T::Vector<S>>() / size_of::<T>();
        for depth in chunks(0..rows.width, DEPTH) {
            let block = (BLOCK / (depth.len() * size_of::<T>())).next_multiple_of(GROUP);
            for columns in chunks(0..out.len() / t, COLUMNS) {
                for (columns, panel) in chunks(columns.clone(), strip).zip(panels.chunks_exact_mut(depth.len() * strip))
                {
                    pack::<T, S>(matrix, depth.clone(), columns, panel);
                }
                let strips = columns.len().div_ceil(strip);
                for block in chunks(0..t, block) {
                    for (number, columns) in chunks(columns.clone(), strip).enumerate() {
                        let share = |number| depth.start + depth.len() * number / strips;
                        let next = share(number)..share(number + 1);
                        let product = PanelProduct { rows, depth: depth.clone(), columns, block: block.clone(), next };
                        let panel = &panels[number * depth.len() * strip..][..depth.len() * strip];
                        if product.columns.len() > strip / 2 {
                            product.multiply::<S, 2>(simd, panel, &mut *out, t);
                        } else {
                            product.multiply::<S, 1>(simd, panel, &mut *out, t);
                        }
                    }
                }
            }
        }
    }
}

/// Packs these columns of the rows `depth` of the matrix in row-major order, padded with zeros to whole vectors.
#[inline(always)]
fn pack<T: Element, S: pulp::Simd>(
    matrix: Strided<'_, T>,
    depth: Range<usize>,
    columns: Range<usize>,
    panel: &mut [T],
) {
    let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
    let wide = columns.len().next_multiple_of(lanes);
    for (l, panel) in depth.zip(panel.chunks_exact_mut(wide)) {
        let row = &matrix.data[l * matrix.row..];
        let (copies, rest) = panel.split_at_mut(columns.len());
        if matrix.col != 1 {
            for (copy, j) in copies.iter_mut().zip(columns.clone()) {
                *copy = row[j * matrix.col];
            }
        } else if rest.is_empty() {
            let (copies, row) = (T::vectors_mut::<S>(copies).0, T::vectors::<S>(&row[columns.clone()]).0);
            copies.iter_mut().zip(row).for_each(|(copy, row)| *copy = *row);
        } else {
            copies.copy_from_slice(&row[columns.clone()]);
        }
        rest.fill(T::ZERO);
    }
}

/// The product of a block of data rows with rows `depth` and some columns of the matrix.
struct PanelProduct<'a, T> {
    rows: Rows<'a, T>,
    depth: Range<usize>,
    columns: Range<usize>,
    block: Range<usize>,
    /// The range of columns of the next block that is prefetched meanwhile.
    next: Range<usize>,
}

impl<T: Element> PanelProduct<'_, T> {
    /// Writes the products with the columns, which make V vectors, or adds them to the products with the previous rows
    /// of the matrix.
    #[inline(always)]
    fn multiply<S: pulp::Simd, const V: usize>(&self, simd: S, panel: &[T], out: &mut [T], t: usize) {
        let Self { rows, depth, columns, block, next } = self;
        let panel = &T::vectors::<S>(panel).0.as_chunks::<V>().0[..depth.len()];
        for first in block.clone().step_by(GROUP) {
            let count = GROUP.min(block.end - first);
            for i in first..first + count {
                if block.start == 0 && next.start == 0 {
                    rows.prefetch_ahead(i);
                }
                if i + block.len() < t {
                    rows.prefetch_part(i + block.len(), next.clone());
                }
            }
            // If there are fewer rows, the last one is repeated.
            let x: [&[T]; GROUP] = std::array::from_fn(
                #[inline(always)]
                |q| &rows.get(first + q.min(count - 1))[depth.clone()],
            );
            let sums = products::<T, S, V>(simd, panel, x);
            let sums: [&[T]; GROUP] = std::array::from_fn(
                #[inline(always)]
                |q| T::numbers::<S>(&sums[q]),
            );
            for (c, j) in columns.clone().enumerate() {
                let out = &mut out[j * t + first..][..count];
                for (out, sums) in out.iter_mut().zip(&sums) {
                    *out = if depth.start == 0 { sums[c] } else { *out + sums[c] };
                }
            }
        }
    }
}

/// Splits a range into chunks of this length. The last chunk may be shorter.
#[inline(always)]
fn chunks(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(length).map(move |start| start..end.min(start + length))
}

/// Returns Σₗ x_q(l) · (vectors of row l of the panel), for each q.
#[inline(always)]
fn products<T: Element, S: pulp::Simd, const V: usize>(
    simd: S,
    panel: &[[T::Vector<S>; V]],
    x: [&[T]; GROUP],
) -> [[T::Vector<S>; V]; GROUP] {
    let mut sums = [[T::splat(simd, T::ZERO); V]; GROUP];
    let (panel, panel_rest) = panel.as_chunks::<UNROLLED>();
    let [x0, x1, x2, x3, x4, x5] = x.map(
        #[inline(always)]
        |x| x.as_chunks::<UNROLLED>().0,
    );
    for ((((((w, x0), x1), x2), x3), x4), x5) in panel.iter().zip(x0).zip(x1).zip(x2).zip(x3).zip(x4).zip(x5) {
        for k in 0..UNROLLED {
            add_products(simd, &mut sums, [x0[k], x1[k], x2[k], x3[k], x4[k], x5[k]], &w[k]);
        }
    }
    for (l, w) in (panel.len() * UNROLLED..).zip(panel_rest) {
        let x = x.map(
            #[inline(always)]
            |x| x[l],
        );
        add_products(simd, &mut sums, x, w);
    }
    sums
}
