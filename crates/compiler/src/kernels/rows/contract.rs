//! Sums over rows, read where they lie, of products with coefficients.
//!
//! Both factors are copied so that the inner loop reads them in order: the coefficients once, in strips of two vectors, and a few columns
//! of the rows at a time. The sums of [`TOGETHER`] of these columns and of a strip stay in registers while the rows go by.

use std::ops::Range;

use super::super::element::Element;
use super::super::prefetch::prefetch_numbers;
use super::super::simd::Simd;
use super::{Lines, Rows, TOGETHER, add_products};

/// Coefficients of a row are filled up to a multiple of this, two vectors of any machine.
const WIDEST: usize = 32;
/// Numbers of a row that are copied at once, a line of the cache of single precision.
const COPIED: usize = 16;
/// Those of them that are used before the next are copied.
const USED: usize = COPIED / TOGETHER * TOGETHER;
/// Turns of the inner loop that are written out: instructions that only count are felt where a core is shared.
const UNROLLED: usize = 8;

/// A matrix to add to: element (l, j) is `data[l · row + j · col]`.
#[derive(Debug)]
pub(crate) struct StridedMut<'a, T> {
    /// The numbers.
    pub(crate) data: &'a mut [T],
    /// From one row to the next.
    pub(crate) row: usize,
    /// From one column to the next.
    pub(crate) col: usize,
}

/// Numbers per row that [`rows_contract`] needs for its copies, with this many coefficients.
pub(crate) fn copies_size(columns: usize) -> usize {
    columns.next_multiple_of(WIDEST) + COPIED
}

/// acc(l, j) += Σᵢ xᵢₗ `coefficients[j · t + i]`, over t rows.
pub(crate) fn rows_contract<T: Element>(
    simd: Simd,
    (table, width, lines): (&[T], usize, Lines<'_>),
    (coefficients, t): (&[T], usize),
    copies: &mut [T],
    acc: StridedMut<'_, T>,
) {
    if width > 0 && t > 0 {
        simd.run_vectors(Contract { rows: Rows { table, width, lines }, coefficients, t, copies, acc });
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
        let (copied, strips) = copies[..t * copies_size(coefficients.len() / t)].split_at_mut(t * COPIED);
        let copied = copied.as_chunks_mut::<COPIED>().0;
        let mut filled = 0;
        for coefficients in coefficients.chunks(2 * lanes * t) {
            let wide = if coefficients.len() > lanes * t { 2 * lanes } else { lanes };
            turn(coefficients, wide, &mut strips[filled..filled + wide * t]);
            filled += wide * t;
        }
        let (whole, last) = strips[..filled].split_at(filled / (2 * lanes * t) * (2 * lanes * t));
        let (width, columns) = (rows.width, coefficients.len() / t);
        for block in (0..width).step_by(USED) {
            copy(rows, block, copied);
            for (strip, w) in whole.chunks_exact(2 * lanes * t).enumerate() {
                let columns = 2 * lanes * strip..columns.min(2 * lanes * (strip + 1));
                for first in (0..USED.min(width - block)).step_by(TOGETHER) {
                    let sums: [_; TOGETHER] = sums(simd, copied, first, T::vectors::<S>(w).0.as_chunks::<2>().0);
                    add::<T, S, 2>(simd, &sums, &mut acc, block + first..width, columns.clone());
                }
            }
            if !last.is_empty() {
                let sums: [_; USED] = sums(simd, copied, 0, T::vectors::<S>(last).0.as_chunks::<1>().0);
                add::<T, S, 1>(simd, &sums, &mut acc, block..width, whole.len() / t..columns);
            }
        }
    }
}

/// The coefficients of one row after another, `wide` of each, filled up with zeros.
#[inline(always)]
fn turn<T: Element>(coefficients: &[T], wide: usize, strip: &mut [T]) {
    let t = strip.len() / wide;
    for c in 0..wide {
        let lines = strip.chunks_exact_mut(wide);
        match coefficients.get(c * t..(c + 1) * t) {
            Some(column) => lines.zip(column).for_each(|(line, x)| line[c] = *x),
            None => lines.for_each(|line| line[c] = T::ZERO),
        }
    }
}

/// Columns `first`, `first` + 1, … of the rows.
#[inline(always)]
fn copy<T: Element>(rows: Rows<'_, T>, first: usize, copied: &mut [[T; COPIED]]) {
    for (i, copy) in copied.iter_mut().enumerate() {
        let row = &rows.get(i)[first..];
        // The next visit finds the first of its numbers where this one ends, and the last ones here.
        if let Some(last) = row.get(USED + COPIED - 1..USED + COPIED) {
            prefetch_numbers(last);
        }
        match row.first_chunk::<COPIED>() {
            Some(row) => *copy = *row,
            None => copy[..row.len()].copy_from_slice(row),
        }
    }
}

/// Σᵢ x_q(i) · (vectors of row i of the strip), for Q columns from `first` on.
#[inline(always)]
fn sums<T: Element, S: pulp::Simd, const V: usize, const Q: usize>(
    simd: S,
    x: &[[T; COPIED]],
    first: usize,
    strip: &[[T::Vector<S>; V]],
) -> [[T::Vector<S>; V]; Q] {
    let mut sums = [[T::splat(simd, T::ZERO); V]; Q];
    let first = first.min(COPIED - Q);
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

/// Q numbers from `first` on.
#[inline(always)]
fn used<T: Copy, const Q: usize>(x: &[T; COPIED], first: usize) -> [T; Q] {
    std::array::from_fn(
        #[inline(always)]
        |q| x[first + q],
    )
}

/// Adds sums to the first of the rows `lines`, as many as there are sums or rows, and to these columns.
#[inline(always)]
fn add<T: Element, S: pulp::Simd, const V: usize>(
    simd: S,
    sums: &[[T::Vector<S>; V]],
    acc: &mut StridedMut<'_, T>,
    lines: Range<usize>,
    columns: Range<usize>,
) {
    for (l, sums) in lines.zip(sums) {
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
