//! Execution of matrix products.

use super::{Executor, Real, Tile};
use crate::kernels::{
    Matrix, Rows, Strided, StridedMut, lanes_contract, lanes_matmul, rows_accumulate, rows_contract, rows_dot,
    rows_multiply, shared_matmul,
};
use crate::program::instruction::{DataLeaf, MatrixView};
use crate::program::view::{BufferId, Location};

impl<T: Real> Executor<'_, T> {
    /// Computes a product for each of `t` observations, or of shared matrices.
    pub(super) fn matmul(
        &mut self,
        size: [usize; 3],
        [a, b]: [&MatrixView; 2],
        Location { buffer: out, offset }: Location,
        t: Option<usize>,
    ) {
        let BufferId::Native(out) = out else { return };
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
        Location { buffer: out, offset }: Location,
        t: usize,
    ) {
        let BufferId::Native(out) = out else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        let [m, _, n] = size;
        let result = &mut target[offset..offset + m * n];
        lanes_contract(self.simd, size, t, self.matrix(a, t), self.matrix(b, t), result);
        self.native[out] = target;
    }

    pub(super) fn dot_data(
        &mut self,
        tile: &Tile<'_>,
        DataLeaf { leaf, width }: DataLeaf,
        Location { buffer: vector, offset }: Location,
        out: BufferId,
    ) {
        let (BufferId::Native(vector), BufferId::Native(out)) = (vector, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let vector = &self.native[vector][offset..offset + width];
            rows_dot(self.simd, table, width, tile.selection(), vector, &mut target[..tile.t]);
        }
        self.native[out] = target;
    }

    pub(super) fn accumulate_data(
        &mut self,
        tile: &Tile<'_>,
        DataLeaf { leaf, width }: DataLeaf,
        Location { buffer: coefficients, offset }: Location,
        out: BufferId,
    ) {
        let (BufferId::Native(coefficients), BufferId::Native(out)) = (coefficients, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let coefficients = &self.native[coefficients][offset * tile.t..][..tile.t];
            rows_accumulate(self.simd, table, width, tile.selection(), coefficients, &mut target[..width]);
        }
        self.native[out] = target;
    }

    /// Multiplies the rows of the tile by a shared matrix.
    pub(super) fn multiply_data(
        &mut self,
        tile: &Tile<'_>,
        DataLeaf { leaf, width }: DataLeaf,
        matrix: &MatrixView,
        panels: BufferId,
        out: BufferId,
        columns: usize,
    ) {
        let (BufferId::Native(buffer), BufferId::Native(panels), BufferId::Native(out)) = (matrix.buffer, panels, out)
        else {
            return;
        };
        let (mut target, mut workspace) =
            (std::mem::take(&mut self.native[out]), std::mem::take(&mut self.native[panels]));
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let [row, col] = matrix.strides;
            let matrix = Strided { data: &self.native[buffer][matrix.offset..], row, col };
            let result = &mut target[..columns * tile.t];
            let rows = Rows { table, width, selection: tile.selection() };
            rows_multiply(self.simd, rows, matrix, &mut workspace, result, tile.t);
        }
        (self.native[out], self.native[panels]) = (target, workspace);
    }

    /// Adds the products of the rows of the tile with coefficients, summed over the rows.
    pub(super) fn contract_data(
        &mut self,
        tile: &Tile<'_>,
        DataLeaf { leaf, width }: DataLeaf,
        Location { buffer: coefficients, offset }: Location,
        columns: usize,
        copies: BufferId,
        out: &MatrixView,
    ) {
        let (BufferId::Native(coefficients), BufferId::Native(copies), BufferId::Native(target_buffer)) =
            (coefficients, copies, out.buffer)
        else {
            return;
        };
        let (mut target, mut workspace) =
            (std::mem::take(&mut self.native[target_buffer]), std::mem::take(&mut self.native[copies]));
        if let Some(table) = T::column(tile.call.columns.column(leaf)) {
            let coefficients = &self.native[coefficients][offset * tile.t..][..columns * tile.t];
            let [row, col] = out.strides;
            let acc = StridedMut { data: &mut target[..width * columns], row, col };
            let rows = Rows { table, width, selection: tile.selection() };
            rows_contract(self.simd, rows, coefficients, tile.t, &mut workspace, acc);
        }
        (self.native[target_buffer], self.native[copies]) = (target, workspace);
    }

    fn matrix(&self, view: &MatrixView, t: usize) -> Matrix<'_, T> {
        let start = view.offset * if view.rows { t } else { 1 };
        let [row, col] = view.strides;
        Matrix { data: &self.buffer(view.buffer)[start..], row, col, lanes: view.rows }
    }

    pub(super) fn buffer(&self, buffer: BufferId) -> &[T] {
        match buffer {
            BufferId::Native(number) => &self.native[number],
            BufferId::Wide(_) => &[],
        }
    }
}
