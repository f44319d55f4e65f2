//! Sums over rows, read where they lie, of products with coefficients.
//!
//! The coefficients are turned once, so that those of a row lie side by side; the sums of [`TOGETHER`] columns of the table and two vectors of
//! coefficients stay in registers while the rows go by.

use super::super::element::Element;
use super::super::simd::Simd;
use super::{Lines, Rows, TOGETHER};

/// Coefficients of a row that lie side by side are filled up to a multiple of this, two vectors of any machine.
const WIDEST: usize = 32;

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

/// Numbers per row that [`rows_contract`] needs to turn this many coefficients.
pub(crate) fn turned_size(columns: usize) -> usize {
    columns.next_multiple_of(WIDEST)
}

/// acc(l, j) += Σᵢ xᵢₗ `coefficients[j · t + i]`, over t rows.
pub(crate) fn rows_contract<T: Element>(
    simd: Simd,
    (table, width, lines): (&[T], usize, Lines<'_>),
    (coefficients, t): (&[T], usize),
    turned: &mut [T],
    acc: StridedMut<'_, T>,
) {
    if width == 0 || t == 0 {
        return;
    }
    let columns = coefficients.len() / t;
    let pitch = turned_size(columns);
    let turned = &mut turned[..pitch * t];
    for (i, turned) in turned.chunks_exact_mut(pitch).enumerate() {
        let (copies, rest) = turned.split_at_mut(columns);
        for (j, copy) in copies.iter_mut().enumerate() {
            *copy = coefficients[j * t + i];
        }
        rest.fill(T::ZERO);
    }
    simd.run_vectors(Contract { rows: Rows { table, width, lines }, columns, turned, acc });
}

struct Contract<'a, T> {
    rows: Rows<'a, T>,
    columns: usize,
    /// The coefficients of one row after another, filled up with zeros.
    turned: &'a [T],
    acc: StridedMut<'a, T>,
}

impl<T: Element> pulp::WithSimd for Contract<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, simd: S) {
        let lanes = size_of::<T::Vector<S>>() / size_of::<T>();
        for first in (0..self.rows.width).step_by(TOGETHER) {
            let mut column = 0;
            while self.columns - column > lanes {
                self.sums::<S, 2>(simd, first, column);
                column = self.columns.min(column + 2 * lanes);
            }
            if column < self.columns {
                self.sums::<S, 1>(simd, first, column);
            }
        }
    }
}

impl<T: Element> Contract<'_, T> {
    /// The sums of columns `first`, `first` + 1, … of the table and V vectors of coefficients from `column` on.
    #[inline(always)]
    fn sums<S: pulp::Simd, const V: usize>(&mut self, simd: S, first: usize, column: usize) {
        let Self { rows, columns, turned, acc } = self;
        let count = TOGETHER.min(rows.width - first);
        let wide = V * size_of::<T::Vector<S>>() / size_of::<T>();
        // Where there are fewer columns than are summed together, earlier ones stand in for them.
        let start = first.min(rows.width.saturating_sub(TOGETHER));
        let mut sums = [[T::splat(simd, T::ZERO); V]; TOGETHER];
        for (i, turned) in turned.chunks_exact(turned_size(*columns)).enumerate() {
            let w = &T::vectors::<S>(&turned[column..column + wide]).0[..V];
            let row = rows.get(i);
            if let Some(x) = row.get(start..start + TOGETHER) {
                for q in 0..TOGETHER {
                    let x = T::splat(simd, x[q]);
                    for v in 0..V {
                        sums[q][v] = T::vector_mul_add(simd, x, w[v], sums[q][v]);
                    }
                }
            } else {
                for (sums, x) in sums.iter_mut().zip(row) {
                    let x = T::splat(simd, *x);
                    for v in 0..V {
                        sums[v] = T::vector_mul_add(simd, x, w[v], sums[v]);
                    }
                }
            }
        }
        let places = column..(*columns).min(column + wide);
        for (q, sums) in sums.iter().enumerate().skip(first - start).take(count) {
            let (row, sums) = (&mut acc.data[(start + q) * acc.row..], T::numbers::<S>(sums));
            if acc.col == 1 {
                for (acc, sum) in row[places.clone()].iter_mut().zip(sums) {
                    *acc += *sum;
                }
            } else {
                for (sum, j) in sums.iter().zip(places.clone()) {
                    row[j * acc.col] += *sum;
                }
            }
        }
    }
}
