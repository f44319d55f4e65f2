//! Loads of parameters, constants, data and weights into buffers.

use super::{Call, Executor, Tile};
use crate::kernels::{Element, load_f64, prefetch, rows_transpose};
use crate::program::instruction::DataLeaf;
use crate::program::view::BufferId;

/// The values of a data leaf in row-major order.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Single-precision floats.
    F32(&'a [f32]),
    /// Double-precision floats.
    F64(&'a [f64]),
    /// 32-bit integers.
    I32(&'a [i32]),
    /// 64-bit integers.
    I64(&'a [i64]),
    /// Truth values.
    Bool(&'a [bool]),
    /// Truth values as bytes; zero is false.
    Bytes(&'a [u8]),
}

/// The floating-point type of a program: `f32` or `f64`.
pub trait Real: Element {
    /// Returns the values of a column of this type, or `None` if it has another type.
    fn column(column: Column<'_>) -> Option<&[Self]>;
}

impl Real for f32 {
    fn column(column: Column<'_>) -> Option<&[Self]> {
        if let Column::F32(values) = column { Some(values) } else { None }
    }
}

impl Real for f64 {
    fn column(column: Column<'_>) -> Option<&[Self]> {
        if let Column::F64(values) = column { Some(values) } else { None }
    }
}

/// A data set that programs can read.
pub trait Columns: std::fmt::Debug {
    /// Returns data leaf `leaf`.
    fn column(&self, leaf: usize) -> Column<'_>;
}

/// Evaluates an expression with the slice of a [`Column`], for every element type.
macro_rules! each_type {
    ($column:expr, $values:ident => $body:expr) => {
        match $column {
            Column::F32($values) => $body,
            Column::F64($values) => $body,
            Column::I32($values) => $body,
            Column::I64($values) => $body,
            Column::Bool($values) => $body,
            Column::Bytes($values) => $body,
        }
    };
}

impl<T: Real> Executor<'_, T> {
    pub(super) fn load_numbers(&mut self, numbers: &[f64], out: BufferId) {
        match out {
            BufferId::Native(buffer) => load_f64(self.simd, numbers, &mut self.native[buffer][..numbers.len()]),
            BufferId::Wide(buffer) => self.wide[buffer][..numbers.len()].copy_from_slice(numbers),
        }
    }

    pub(super) fn load_data(&mut self, tile: &Tile<'_>, leaf: usize, width: usize, out: BufferId) {
        let (column, selection, size) = (tile.call.columns.column(leaf), tile.selection(), width * tile.t);
        match out {
            BufferId::Native(buffer) => {
                let out = &mut self.native[buffer][..size];
                each_type!(column, values => rows_transpose(self.simd, values, width, selection, out));
            }
            BufferId::Wide(buffer) => {
                let out = &mut self.wide[buffer][..size];
                each_type!(column, values => rows_transpose(self.simd, values, width, selection, out));
            }
        }
    }

    pub(super) fn load_weights(&mut self, tile: &Tile<'_>, out: BufferId) {
        let BufferId::Native(buffer) = out else { return };
        let out = &mut self.native[buffer][..tile.t];
        match tile.call.weights {
            Some(weights) => load_f64(self.simd, &weights[tile.first..tile.first + tile.t], out),
            None => out.fill(T::ONE),
        }
    }

    pub(super) fn clear(&mut self, buffer: BufferId) {
        match buffer {
            BufferId::Native(buffer) => self.native[buffer].fill(T::ZERO),
            BufferId::Wide(buffer) => self.wide[buffer].fill(0.0),
        }
    }

    pub(super) fn clear_part(&mut self, buffer: BufferId, length: usize) {
        match buffer {
            BufferId::Native(buffer) => self.native[buffer][..length].fill(T::ZERO),
            BufferId::Wide(buffer) => self.wide[buffer][..length].fill(0.0),
        }
    }
}

/// Prefetches the first rows of the data leaves `read`.
pub(super) fn prefetch_rows(read: &[DataLeaf], call: Call<'_>) {
    for DataLeaf { leaf, width } in read {
        each_type!(call.columns.column(*leaf), values => prefetch(values, *width, call.selection, call.rows));
    }
}
