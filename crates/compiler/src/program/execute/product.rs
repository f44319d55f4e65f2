//! Matrix products.

use super::{Machine, Real, Tile};
use crate::kernels::{
    Matrix, Strided, StridedMut, lanes_contract, lanes_matmul, rows_accumulate, rows_contract, rows_dot, rows_multiply,
    shared_matmul,
};
use crate::program::instruction::MatrixView;
use crate::program::view::Store;

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
        let [m, _, n] = size;
        let result = &mut target[offset * t.unwrap_or(1)..][..m * n * t.unwrap_or(1)];
        let (left, right) = (self.matrix(a, t.unwrap_or(1)), self.matrix(b, t.unwrap_or(1)));
        match t {
            Some(t) => lanes_matmul(self.simd, size, t, left, right, result),
            None => shared_matmul(self.simd, size, left, right, result),
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
        let [m, _, n] = size;
        let result = &mut target[offset..offset + m * n];
        lanes_contract(self.simd, size, t, self.matrix(a, t), self.matrix(b, t), result);
        self.native[out] = target;
    }

    pub(super) fn dot_data(
        &mut self,
        tile: &Tile<'_>,
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
        tile: &Tile<'_>,
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

    /// The products of the tile's rows with a shared matrix.
    pub(super) fn multiply_data(
        &mut self,
        tile: &Tile<'_>,
        (leaf, width): (usize, usize),
        (matrix, offset, [row, col]): (Store, usize, [usize; 2]),
        panels: Store,
        (out, columns): (Store, usize),
    ) {
        let (Store::Native(matrix), Store::Native(panels), Store::Native(out)) = (matrix, panels, out) else { return };
        let (mut target, mut room) = (std::mem::take(&mut self.native[out]), std::mem::take(&mut self.native[panels]));
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let matrix = Strided { data: &self.native[matrix][offset..], row, col };
            let result = &mut target[..columns * tile.t];
            rows_multiply(self.simd, (table, width, tile.lines()), matrix, &mut room, (result, tile.t));
        }
        (self.native[out], self.native[panels]) = (target, room);
    }

    /// Adds the products of the tile's rows with coefficients, summed over the rows.
    pub(super) fn contract_data(
        &mut self,
        tile: &Tile<'_>,
        (leaf, width): (usize, usize),
        (coefficients, offset, columns): (Store, usize, usize),
        copies: Store,
        (out, [row, col]): (Store, [usize; 2]),
    ) {
        let (Store::Native(coefficients), Store::Native(copies), Store::Native(out)) = (coefficients, copies, out)
        else {
            return;
        };
        let (mut target, mut room) = (std::mem::take(&mut self.native[out]), std::mem::take(&mut self.native[copies]));
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let coefficients = &self.native[coefficients][offset * tile.t..][..columns * tile.t];
            let acc = StridedMut { data: &mut target[..width * columns], row, col };
            rows_contract(self.simd, (table, width, tile.lines()), (coefficients, tile.t), &mut room, acc);
        }
        (self.native[out], self.native[copies]) = (target, room);
    }

    fn matrix(&self, view: &MatrixView, t: usize) -> Matrix<'_, T> {
        let start = view.offset * if view.rows { t } else { 1 };
        let [row, col] = view.strides;
        Matrix { data: &self.buffer(view.store)[start..], row, col, lanes: view.rows }
    }

    pub(super) fn buffer(&self, store: Store) -> &[T] {
        match store {
            Store::Native(number) => &self.native[number],
            Store::Wide(_) => &[],
        }
    }
}
