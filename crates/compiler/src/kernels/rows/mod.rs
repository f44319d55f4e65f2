//! Kernels that read rows of a data table in place: `table[row · width..][..width]`.
//!
//! A row is read in vectors. The last vector of a row overlaps the previous one, and the duplicate elements are masked,
//! so that no row has a scalar remainder.

mod accumulate;
mod contract;
mod dot;
mod multiply;
mod narrow;
#[cfg(test)]
mod tests;

pub(crate) use accumulate::rows_accumulate;
pub(crate) use contract::{StridedMut, copies_size, rows_contract};
pub(crate) use dot::rows_dot;
pub(crate) use multiply::{Strided, panels_size, rows_multiply};

use std::ops::Range;

use super::element::{Element, Number};
use super::prefetch::{prefetch_numbers, prefetch_row};
use super::simd::Simd;

/// The number of rows, or of columns of the rows, that are multiplied by a matrix together.
const GROUP: usize = 6;
/// The number of rows that are transposed together.
const TRANSPOSED: usize = 8;
/// The minimum and maximum prefetch distance, in rows. Short rows need a larger distance, because they are processed
/// faster than memory responds.
const PREFETCH_ROWS: std::ops::RangeInclusive<usize> = 16..=64;
/// The target number of prefetched bytes.
const PREFETCH_BYTES: usize = 1024;

/// The size in bytes up to which a table is assumed to be in the cache.
pub(super) const CACHED_BYTES: usize = 256 << 10;

/// A selection of rows of a table.
#[derive(Clone, Copy, Debug)]
pub enum RowSelection<'a> {
    /// Consecutive rows from this index on.
    Range(usize),
    /// The rows with these indices.
    List(&'a [usize]),
}

impl RowSelection<'_> {
    /// Returns the index of selected row i, or `usize::MAX`, which exceeds every table, if the list is shorter.
    #[inline(always)]
    pub(super) fn get(self, i: usize) -> usize {
        match self {
            Self::Range(start) => start + i,
            Self::List(rows) => rows.get(i).copied().unwrap_or(usize::MAX),
        }
    }
}

/// Selected rows of a table.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, T> {
    /// The table in row-major order.
    pub(crate) table: &'a [T],
    /// The number of columns.
    pub(crate) width: usize,
    /// The selected rows.
    pub(crate) selection: RowSelection<'a>,
}

impl<'a, T> Rows<'a, T> {
    #[inline(always)]
    fn get(self, i: usize) -> &'a [T] {
        &self.table[self.selection.get(i).saturating_mul(self.width)..][..self.width]
    }

    /// Prefetches the row at the [prefetch distance](prefetch_distance) after row i, if the rows [need
    /// it](Self::needs_prefetch).
    #[inline(always)]
    fn prefetch_ahead(self, i: usize) {
        if self.needs_prefetch() {
            prefetch_row(self.table, self.width, self.selection.get(i + prefetch_distance::<T>(self.width)));
        }
    }

    /// Prefetches a part of row i, if the rows [need it](Self::needs_prefetch).
    #[inline(always)]
    fn prefetch_part(self, i: usize, part: Range<usize>) {
        if self.needs_prefetch() {
            prefetch_numbers(&self.get(i)[part]);
        }
    }

    /// Returns whether the rows are scattered in a table that exceeds the near cache.
    #[inline(always)]
    fn needs_prefetch(&self) -> bool {
        matches!(self.selection, RowSelection::List(_)) && size_of_val(self.table) > CACHED_BYTES
    }
}

/// Returns the prefetch distance for rows of this width.
#[inline(always)]
pub(super) fn prefetch_distance<T>(width: usize) -> usize {
    (PREFETCH_BYTES / (width * size_of::<T>()).max(1)).clamp(*PREFETCH_ROWS.start(), *PREFETCH_ROWS.end())
}

/// `sums[q]` += x(q) w, for Q numbers and V vectors.
#[inline(always)]
fn add_products<T: Element, S: pulp::Simd, const V: usize, const Q: usize>(
    simd: S,
    sums: &mut [[T::Vector<S>; V]; Q],
    x: [T; Q],
    w: &[T::Vector<S>; V],
) {
    for q in 0..Q {
        let x = T::splat(simd, x[q]);
        for v in 0..V {
            sums[q][v] = T::vector_mul_add(simd, x, w[v], sums[q][v]);
        }
    }
}

/// `out[j · lanes + i]` = xᵢⱼ: transposes the rows to a structure of arrays.
pub(crate) fn rows_transpose<S: Number, T: Element>(
    simd: Simd,
    table: &[S],
    width: usize,
    selection: RowSelection<'_>,
    out: &mut [T],
) {
    if width == 0 {
        return;
    }
    let lanes = out.len() / width;
    assert_eq!(out.len(), lanes * width);
    let rows = Rows { table, width, selection };
    match width {
        1..=narrow::WIDEST => narrow::transpose(simd, rows, out),
        _ => transpose(simd, rows, out),
    }
}

/// Transposes several rows at a time, so that writes are consecutive.
fn transpose<S: Number, T: Element>(simd: Simd, rows: Rows<'_, S>, out: &mut [T]) {
    let (width, lanes) = (rows.width, out.len() / rows.width);
    simd.run(
        #[inline(always)]
        move |_| {
            let whole = lanes - lanes % TRANSPOSED;
            for first in (0..whole).step_by(TRANSPOSED) {
                let mut group: [&[S]; TRANSPOSED] = [&[]; TRANSPOSED];
                for (r, row) in group.iter_mut().enumerate() {
                    *row = rows.get(first + r);
                    rows.prefetch_ahead(first + r);
                }
                for j in 0..width {
                    let out = &mut out[j * lanes + first..][..TRANSPOSED];
                    for (out, row) in out.iter_mut().zip(&group) {
                        *out = row[j].element();
                    }
                }
            }
            for i in whole..lanes {
                for (j, x) in rows.get(i).iter().enumerate() {
                    out[j * lanes + i] = x.element();
                }
            }
        },
    );
}
