//! Sums over rows, read in place, of outer products with coefficients.
//!
//! Both factors are packed, so that the inner loop reads them sequentially: the coefficients once, in strips of two
//! vectors, and a few columns of the rows at a time. The sums of [`GROUP`] columns and a strip stay in registers during
//! the loop over the rows.

use std::ops::Range;

use super::super::element::Element;
use super::super::prefetch::prefetch_numbers;
use super::super::simd::Simd;
use super::{GROUP, Rows, add_products};

/// The coefficients of a row are padded to a multiple of this number, which is two vectors of any instruction set.
const WIDEST: usize = 32;
/// The number of columns that are packed together: a cache line in single precision.
const PACKED_COLUMNS: usize = 16;
/// The number of packed columns that are used before the next ones are packed.
const USED_COLUMNS: usize = PACKED_COLUMNS / GROUP * GROUP;
/// The unroll factor of the inner loop. It reduces the loop overhead, which matters if two threads share a core.
const UNROLLED: usize = 8;

/// A mutable matrix. Element (l, j) is `data[l · row + j · col]`.
#[derive(Debug)]
pub(crate) struct StridedMut<'a, T> {
    /// The values.
    pub(crate) data: &'a mut [T],
    /// The stride between rows.
    pub(crate) row: usize,
    /// The stride between columns.
    pub(crate) col: usize,
}

/// Returns the numbers per row that [`rows_contract`] needs for packing, with `columns` coefficients per row.
pub(crate) fn copies_size(columns: usize) -> usize {
    columns.next_multiple_of(WIDEST) + PACKED_COLUMNS
}

/// acc(l, j) += Σᵢ xᵢₗ `coefficients[j · t + i]`, over t rows.
pub(crate) fn rows_contract<T: Element>(
    simd: Simd,
    rows: Rows<'_, T>,
    coefficients: &[T],
    t: usize,
    copies: &mut [T],
    acc: StridedMut<'_, T>,
) {
    if rows.width > 0 && t > 0 {
        simd.run_vectors(Contract { rows, coefficients, t, copies, acc });
    }
}

struct Contract<'a, T> {
    rows: Rows<'a, T>,
    coefficients: &'a [T],
    t: usize,
    copies: &'a mut [T],
    acc: StridedMut<'a, T>,
}

impl<T: Element> pulp::WithSimd for Contract<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { rows, coefficients, t, copies, mut acc } = self;
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        let (packed, strips) = copies[..t * copies_size(coefficients.len() / t)].split_at_mut(t * PACKED_COLUMNS);
        let packed = packed.as_chunks_mut::<PACKED_COLUMNS>().0;
        let mut filled = 0;
        for coefficients in coefficients.chunks(2 * lanes * t) {
            let wide = if coefficients.len() > lanes * t { 2 * lanes } else { lanes };
            pack_coefficients(coefficients, wide, &mut strips[filled..filled + wide * t]);
            filled += wide * t;
        }
        let (whole, last) = strips[..filled].split_at(filled / (2 * lanes * t) * (2 * lanes * t));
        let (width, columns) = (rows.width, coefficients.len() / t);
        for block in (0..width).step_by(USED_COLUMNS) {
            pack_columns(rows, block, packed);
            for (strip, w) in whole.chunks_exact(2 * lanes * t).enumerate() {
                let columns = 2 * lanes * strip..columns.min(2 * lanes * (strip + 1));
                for first in (0..USED_COLUMNS.min(width - block)).step_by(GROUP) {
                    let sums: [_; GROUP] = sums(simd, packed, first, T::vectors::<S>(w).0.as_chunks::<2>().0);
                    add::<T, S, 2>(simd, &sums, &mut acc, block + first..width, columns.clone());
                }
            }
            if !last.is_empty() {
                let sums: [_; USED_COLUMNS] = sums(simd, packed, 0, T::vectors::<S>(last).0.as_chunks::<1>().0);
                add::<T, S, 1>(simd, &sums, &mut acc, block..width, whole.len() / t..columns);
            }
        }
    }
}

/// Packs the coefficients row by row, `wide` for each row, padded with zeros.
#[inline(always)]
fn pack_coefficients<T: Element>(coefficients: &[T], wide: usize, strip: &mut [T]) {
    let t = strip.len() / wide;
    for c in 0..wide {
        let strip_rows = strip.chunks_exact_mut(wide);
        match coefficients.get(c * t..(c + 1) * t) {
            Some(column) => strip_rows.zip(column).for_each(|(row, x)| row[c] = *x),
            None => strip_rows.for_each(|row| row[c] = T::ZERO),
        }
    }
}

/// Packs the columns from `first` on of the rows.
#[inline(always)]
fn pack_columns<T: Element>(rows: Rows<'_, T>, first: usize, packed: &mut [[T; PACKED_COLUMNS]]) {
    for (i, copy) in packed.iter_mut().enumerate() {
        let row = &rows.get(i)[first..];
        // The next call starts in the cache line at the end of this block. The line with its last columns is
        // prefetched.
        if let Some(last) = row.get(USED_COLUMNS + PACKED_COLUMNS - 1..USED_COLUMNS + PACKED_COLUMNS) {
            prefetch_numbers(last);
        }
        match row.first_chunk::<PACKED_COLUMNS>() {
            Some(row) => *copy = *row,
            None => copy[..row.len()].copy_from_slice(row),
        }
    }
}

/// Returns Σᵢ x_q(i) · (vectors of row i of the strip), for Q columns from `first` on.
#[inline(always)]
fn sums<T: Element, S: pulp::Simd, const V: usize, const Q: usize>(
    simd: S,
    x: &[[T; PACKED_COLUMNS]],
    first: usize,
    strip: &[[T::Vector<S>; V]],
) -> [[T::Vector<S>; V]; Q] {
    let mut sums = [[T::splat(simd, T::ZERO); V]; Q];
    let first = first.min(PACKED_COLUMNS - Q);
    let ((x, x_rest), (strip, strip_rest)) = (x.as_chunks::<UNROLLED>(), strip.as_chunks::<UNROLLED>());
    for (x, w) in x.iter().zip(strip) {
        for k in 0..UNROLLED {
            add_products(simd, &mut sums, used(&x[k], first), &w[k]);
        }
    }
    for (x, w) in x_rest.iter().zip(strip_rest) {
        add_products(simd, &mut sums, used(x, first), w);
    }
    sums
}

/// Returns Q numbers from `first` on.
#[inline(always)]
fn used<T: Copy, const Q: usize>(x: &[T; PACKED_COLUMNS], first: usize) -> [T; Q] {
    std::array::from_fn(
        #[inline(always)]
        |q| x[first + q],
    )
}

/// Adds the sums to these rows and columns, up to the number of sums or rows.
#[inline(always)]
fn add<T: Element, S: pulp::Simd, const V: usize>(
    simd: S,
    sums: &[[T::Vector<S>; V]],
    acc: &mut StridedMut<'_, T>,
    rows: Range<usize>,
    columns: Range<usize>,
) {
    for (l, sums) in rows.zip(sums) {
        let row = &mut acc.data[l * acc.row..];
        if acc.col == 1 && columns.len() == T::numbers::<S>(sums).len() {
            for (acc, sum) in T::vectors_mut::<S>(&mut row[columns.clone()]).0.iter_mut().zip(sums) {
                *acc = T::vector_add(simd, *acc, *sum);
            }
        } else {
            for (j, sum) in columns.clone().zip(T::numbers::<S>(sums)) {
                row[j * acc.col] += *sum;
            }
        }
    }
}
