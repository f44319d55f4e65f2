//! Kernels that read rows of a data table where they are: `table[line · width..][..width]`.
//!
//! A row is read in vectors. The last vector of a row overlaps the one before it, and the numbers in both are left out of it,
//! so that no row ends with single numbers.

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

/// Rows, or columns of them, whose products with a matrix are summed at once.
const TOGETHER: usize = 6;
/// Rows turned at once.
const TURNED: usize = 8;
/// How many rows ahead of their use rows at places all over the table are fetched: at least, and at most where rows are short and
/// each is over before the next ones are there.
const AHEAD: std::ops::RangeInclusive<usize> = 16..=64;
/// Bytes that are on their way.
const UNDER_WAY: usize = 1024;

/// Bytes of a table that is in the cache anyway.
pub(super) const NEAR: usize = 256 << 10;

/// Which rows of a table.
#[derive(Clone, Copy, Debug)]
pub enum Lines<'a> {
    /// One after another, from this one on.
    Range(usize),
    /// These.
    List(&'a [usize]),
}

impl Lines<'_> {
    /// Row number i of them; `usize::MAX`, which no table has, if there are not so many.
    #[inline(always)]
    pub(super) fn get(self, i: usize) -> usize {
        match self {
            Self::Range(start) => start + i,
            Self::List(lines) => lines.get(i).copied().unwrap_or(usize::MAX),
        }
    }
}

/// Rows of a table.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    table: &'a [T],
    width: usize,
    lines: Lines<'a>,
}

impl<'a, T> Rows<'a, T> {
    #[inline(always)]
    fn get(self, i: usize) -> &'a [T] {
        &self.table[self.lines.get(i).saturating_mul(self.width)..][..self.width]
    }

    /// Starts to load the row [`ahead`] of row i, if it is [far](Self::far).
    #[inline(always)]
    fn fetch(self, i: usize) {
        if self.far() {
            prefetch_row(self.table, self.width, self.lines.get(i + ahead::<T>(self.width)));
        }
    }

    /// Starts to load a part of row i, if it is [far](Self::far).
    #[inline(always)]
    fn fetch_part(self, i: usize, part: Range<usize>) {
        if self.far() {
            prefetch_numbers(&self.get(i)[part]);
        }
    }

    /// Whether the rows are at places all over a table too large for the near cache.
    #[inline(always)]
    fn far(&self) -> bool {
        matches!(self.lines, Lines::List(_)) && size_of_val(self.table) > NEAR
    }
}

/// How many rows of this width are fetched ahead of their use.
#[inline(always)]
pub(super) fn ahead<T>(width: usize) -> usize {
    (UNDER_WAY / (width * size_of::<T>()).max(1)).clamp(*AHEAD.start(), *AHEAD.end())
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

/// `out[j · lanes + i]` = xᵢⱼ: the rows as a structure of arrays.
pub(crate) fn rows_transpose<S: Number, T: Element>(
    simd: Simd,
    table: &[S],
    width: usize,
    lines: Lines<'_>,
    out: &mut [T],
) {
    if width == 0 {
        return;
    }
    let lanes = out.len() / width;
    assert_eq!(out.len(), lanes * width);
    let rows = Rows { table, width, lines };
    match width {
        1..=narrow::WIDEST => narrow::turn(simd, rows, out),
        _ => turn(simd, rows, out),
    }
}

/// Several rows at a time, so that what is written is consecutive.
fn turn<S: Number, T: Element>(simd: Simd, rows: Rows<'_, S>, out: &mut [T]) {
    let (width, lanes) = (rows.width, out.len() / rows.width);
    simd.run(
        #[inline(always)]
        move |_| {
            let whole = lanes - lanes % TURNED;
            for first in (0..whole).step_by(TURNED) {
                let mut group: [&[S]; TURNED] = [&[]; TURNED];
                for (r, row) in group.iter_mut().enumerate() {
                    *row = rows.get(first + r);
                    rows.fetch(first + r);
                }
                for j in 0..width {
                    let out = &mut out[j * lanes + first..][..TURNED];
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
