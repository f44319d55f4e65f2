//! Products of rows, read where they lie, with a matrix.
//!
//! Columns of the matrix are copied together, two vectors of them at a time, so that the sums of [`TOGETHER`] rows and these columns stay in
//! registers while both are read in order. All columns meet a block of rows before the next block is read, which comes meanwhile.

use std::ops::Range;

use super::super::element::Element;
use super::super::simd::Simd;
use super::{Lines, Rows, TOGETHER, add_products};

/// Rows of the matrix whose columns are copied together: more would not stay in the near caches.
const DEPTH: usize = 1024;
/// Columns whose copies are kept, at most.
const COLUMNS: usize = 256;
/// Columns of a multiple of this are whole strips on any machine.
const WIDEST: usize = 32;
/// Bytes of a block of rows, which should stay in the near caches together with the next one and some columns.
const BLOCK: usize = 128 << 10;
/// Turns of the inner loop that are written out: instructions that only count are felt where a core is shared.
const UNROLLED: usize = 4;

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

/// Numbers that [`rows_multiply`] needs for copies of the columns of a matrix of this size.
pub(crate) fn panels_size(width: usize, columns: usize) -> usize {
    width.min(DEPTH) * columns.next_multiple_of(WIDEST).min(COLUMNS)
}

/// `out[j · t + i]` = Σₗ xᵢₗ w(l, j), of t rows.
pub(crate) fn rows_multiply<T: Element>(
    simd: Simd,
    (table, width, lines): (&[T], usize, Lines<'_>),
    matrix: Strided<'_, T>,
    panels: &mut [T],
    (out, t): (&mut [T], usize),
) {
    if width == 0 || t == 0 {
        return out.fill(T::ZERO);
    }
    simd.run_vectors(Multiply { rows: Rows { table, width, lines }, matrix, panels, out, t });
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
        for depth in pieces(0..rows.width, DEPTH) {
            let block = (BLOCK / (depth.len() * size_of::<T>())).next_multiple_of(TOGETHER);
            for columns in pieces(0..out.len() / t, COLUMNS) {
                for (columns, panel) in pieces(columns.clone(), strip).zip(panels.chunks_exact_mut(depth.len() * strip))
                {
                    copy::<T, S>(matrix, depth.clone(), columns, panel);
                }
                let strips = columns.len().div_ceil(strip);
                for block in pieces(0..t, block) {
                    for (number, columns) in pieces(columns.clone(), strip).enumerate() {
                        let share = |number| depth.start + depth.len() * number / strips;
                        let next = share(number)..share(number + 1);
                        let part = Part { rows, depth: depth.clone(), columns, block: block.clone(), next };
                        let panel = &panels[number * depth.len() * strip..][..depth.len() * strip];
                        if part.columns.len() > strip / 2 {
                            part.multiply::<S, 2>(simd, panel, (&mut *out, t));
                        } else {
                            part.multiply::<S, 1>(simd, panel, (&mut *out, t));
                        }
                    }
                }
            }
        }
    }
}

/// Copies these columns of the matrix, of the rows `depth`, row by row; where a vector ends with none, zeros.
#[inline(always)]
fn copy<T: Element, S: pulp::Simd>(
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

/// Rows `depth` and some columns of the matrix with a block of data rows.
struct Part<'a, T> {
    rows: Rows<'a, T>,
    depth: Range<usize>,
    columns: Range<usize>,
    block: Range<usize>,
    /// What is fetched of the next block meanwhile.
    next: Range<usize>,
}

impl<T: Element> Part<'_, T> {
    /// Writes the products with the columns, which make V vectors, or adds them to what shallower rows of the matrix gave.
    #[inline(always)]
    fn multiply<S: pulp::Simd, const V: usize>(&self, simd: S, panel: &[T], (out, t): (&mut [T], usize)) {
        let Self { rows, depth, columns, block, next } = self;
        let panel = &T::vectors::<S>(panel).0.as_chunks::<V>().0[..depth.len()];
        for first in block.clone().step_by(TOGETHER) {
            let count = TOGETHER.min(block.end - first);
            for i in first..first + count {
                if block.start == 0 && next.start == 0 {
                    rows.fetch(i);
                }
                if i + block.len() < t {
                    rows.fetch_part(i + block.len(), next.clone());
                }
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
                let out = &mut out[j * t + first..][..count];
                for (out, sums) in out.iter_mut().zip(&sums) {
                    *out = if depth.start == 0 { sums[c] } else { *out + sums[c] };
                }
            }
        }
    }
}

/// A range in pieces of this length, the last of which may be shorter.
#[inline(always)]
fn pieces(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(length).map(move |start| start..end.min(start + length))
}

/// Σₗ x_q(l) · (vectors of row l of the panel), for each q.
#[inline(always)]
fn products<T: Element, S: pulp::Simd, const V: usize>(
    simd: S,
    panel: &[[T::Vector<S>; V]],
    x: [&[T]; TOGETHER],
) -> [[T::Vector<S>; V]; TOGETHER] {
    let mut sums = [[T::splat(simd, T::ZERO); V]; TOGETHER];
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
