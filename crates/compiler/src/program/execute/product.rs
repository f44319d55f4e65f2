//! Matrix products.

use super::{Machine, Real, Tile};
use crate::kernels::{Matrix, Strided, StridedMut, gemm, lanes_contract, lanes_matmul, rows_accumulate, rows_dot};
use crate::program::instruction::MatrixView;
use crate::program::view::Store;

/// Multiplications from which on a general matrix product is worth its call.
const GENERAL: usize = 1 << 14;

impl<T: Real> Machine<'_, T> {
    /// A product for each of `t` observations, or of shared matrices.
    pub(super) fn matmul(
        &mut self,
        size: [usize; 3],
        [a, b]: [&MatrixView; 2],
        (out, offset): (Store, usize),
        t: Option<usize>,
    ) {
        let Store::Native(out) = out else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        let [m, k, n] = size;
        let (work, lanes) = (m * k * n * t.unwrap_or(1), t.unwrap_or(1));
        let result = &mut target[offset * lanes..][..m * n * lanes];
        match t {
            None => {
                let (left, right) = (self.strided(a, a.strides), self.strided(b, b.strides));
                gemm(size, left, right, StridedMut { data: result, row: n, col: 1 }, false);
            }
            // The observations are the columns of one large product for each row (column) of the matrix that has them.
            Some(t) if work >= GENERAL && a.rows && !b.rows => {
                for i in 0..m {
                    let left = self.strided(b, [b.strides[1], b.strides[0]]);
                    let right = self.lanes(a, i * a.strides[0], a.strides[1], t);
                    let out = StridedMut { data: &mut result[i * n * t..][..n * t], row: t, col: 1 };
                    gemm([n, k, t], left, right, out, false);
                }
            }
            Some(t) if work >= GENERAL && !a.rows && b.rows => {
                for j in 0..n {
                    let left = self.strided(a, a.strides);
                    let right = self.lanes(b, j * b.strides[1], b.strides[0], t);
                    let out = StridedMut { data: &mut result[j * t..], row: n * t, col: 1 };
                    gemm([m, k, t], left, right, out, false);
                }
            }
            Some(t) => lanes_matmul(self.simd, size, t, self.matrix(a, t), self.matrix(b, t), result),
        }
        self.native[out] = target;
    }

    /// Adds the sum of the products over the observations.
    pub(super) fn contract(
        &mut self,
        size: [usize; 3],
        [a, b]: [&MatrixView; 2],
        (out, offset): (Store, usize),
        t: usize,
    ) {
        let Store::Native(out) = out else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        let [m, k, n] = size;
        let result = &mut target[offset..offset + m * n];
        let work = m * k * n * t;
        if work >= GENERAL && a.rows && b.rows {
            for l in 0..k {
                let left = self.lanes(a, l * a.strides[1], a.strides[0], t);
                let by_column = self.lanes(b, l * b.strides[0], b.strides[1], t);
                let right = Strided { data: by_column.data, row: by_column.col, col: by_column.row };
                let out = StridedMut { data: result, row: n, col: 1 };
                gemm([m, t, n], left, right, out, true);
            }
        } else {
            lanes_contract(self.simd, size, t, self.matrix(a, t), self.matrix(b, t), result);
        }
        self.native[out] = target;
    }

    pub(super) fn dot_data(
        &mut self,
        tile: Tile<'_>,
        (leaf, width): (usize, usize),
        (vector, offset): (Store, usize),
        out: Store,
    ) {
        let (Store::Native(vector), Store::Native(out)) = (vector, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let vector = &self.native[vector][offset..offset + width];
            rows_dot(self.simd, table, width, tile.lines(), vector, &mut target[..tile.t]);
        }
        self.native[out] = target;
    }

    pub(super) fn accumulate_data(
        &mut self,
        tile: Tile<'_>,
        (leaf, width): (usize, usize),
        (coefficients, offset): (Store, usize),
        out: Store,
    ) {
        let (Store::Native(coefficients), Store::Native(out)) = (coefficients, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let coefficients = &self.native[coefficients][offset * tile.t..][..tile.t];
            rows_accumulate(self.simd, table, width, tile.lines(), coefficients, &mut target[..width]);
        }
        self.native[out] = target;
    }

    /// `[columns × width] · [width × t]`, the rows copied one after another being the columns of the second.
    pub(super) fn multiply_data(
        &mut self,
        size: [usize; 3],
        copied: Store,
        (matrix, offset, strides): (Store, usize, [usize; 2]),
        out: Store,
    ) {
        let (Store::Native(copied), Store::Native(matrix), Store::Native(out)) = (copied, matrix, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        let [columns, width, t] = size;
        let left = Strided { data: &self.native[matrix][offset..], row: strides[1], col: strides[0] };
        let right = Strided { data: &self.native[copied][..width * t], row: 1, col: width };
        let result = StridedMut { data: &mut target[..columns * t], row: t, col: 1 };
        gemm(size, left, right, result, false);
        self.native[out] = target;
    }

    /// Adds `[width × t] · [t × columns]`.
    pub(super) fn contract_data(
        &mut self,
        size: [usize; 3],
        copied: Store,
        (coefficients, offset): (Store, usize),
        (out, strides): (Store, [usize; 2]),
    ) {
        let (Store::Native(copied), Store::Native(coefficients), Store::Native(out)) = (copied, coefficients, out)
        else {
            return;
        };
        let mut target = std::mem::take(&mut self.native[out]);
        let [width, t, columns] = size;
        let left = Strided { data: &self.native[copied][..width * t], row: 1, col: width };
        let right = Strided { data: &self.native[coefficients][offset * t..][..columns * t], row: 1, col: t };
        let result = StridedMut { data: &mut target[..width * columns], row: strides[0], col: strides[1] };
        gemm(size, left, right, result, true);
        self.native[out] = target;
    }

    /// A shared matrix with these strides.
    fn strided(&self, view: &MatrixView, [row, col]: [usize; 2]) -> Strided<'_, T> {
        Strided { data: &self.buffer(view.store)[view.offset..], row, col }
    }

    /// The matrix whose rows are the lanes at `start`, `start + step`, ….
    fn lanes(&self, view: &MatrixView, start: usize, step: usize, t: usize) -> Strided<'_, T> {
        Strided { data: &self.buffer(view.store)[(view.offset + start) * t..], row: step * t, col: 1 }
    }

    fn matrix(&self, view: &MatrixView, t: usize) -> Matrix<'_, T> {
        let start = view.offset * if view.rows { t } else { 1 };
        let [row, col] = view.strides;
        Matrix { data: &self.buffer(view.store)[start..], row, col, lanes: view.rows }
    }

    fn buffer(&self, store: Store) -> &[T] {
        match store {
            Store::Native(number) => &self.native[number],
            Store::Wide(_) => &[],
        }
    }
}
