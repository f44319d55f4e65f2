//! Parameters, constants, data and weights on their way into buffers.

use super::{Call, Machine, Tile};
use crate::kernels::{Element, load_f64, prefetch, rows_transpose};
use crate::program::view::Store;

/// The numbers of a data leaf, row after row.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
    /// Short integers.
    I32(&'a [i32]),
    /// Long integers.
    I64(&'a [i64]),
    /// True or false.
    Bool(&'a [bool]),
    /// True or false as bytes, of which zero is false.
    Bytes(&'a [u8]),
}

/// The precision of a program: `f32` or `f64`.
pub trait Real: Element {
    /// The numbers of a column of this type.
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

/// A data set as programs read it.
pub trait Columns: std::fmt::Debug {
    /// Data leaf number `leaf`.
    fn column(&self, leaf: usize) -> Column<'_>;
}

/// Runs an expression on the slice inside a [`Column`], whatever its element type.
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

impl<T: Real> Machine<'_, T> {
    pub(super) fn load_numbers(&mut self, numbers: &[f64], out: Store) {
        match out {
            Store::Native(buffer) => load_f64(self.simd, numbers, &mut self.native[buffer][..numbers.len()]),
            Store::Wide(buffer) => self.wide[buffer][..numbers.len()].copy_from_slice(numbers),
        }
    }

    pub(super) fn load_data(&mut self, tile: &Tile<'_>, leaf: usize, width: usize, out: Store) {
        let (column, lines, size) = (tile.call.columns.column(leaf), tile.lines(), width * tile.t);
        match out {
            Store::Native(buffer) => {
                let out = &mut self.native[buffer][..size];
                each_type!(column, values => rows_transpose(self.simd, values, width, lines, out));
            }
            Store::Wide(buffer) => {
                let out = &mut self.wide[buffer][..size];
                each_type!(column, values => rows_transpose(self.simd, values, width, lines, out));
            }
        }
    }

    pub(super) fn load_weights(&mut self, tile: &Tile<'_>, out: Store) {
        let Store::Native(buffer) = out else { return };
        let out = &mut self.native[buffer][..tile.t];
        match tile.call.weights {
            Some(weights) => load_f64(self.simd, &weights[tile.first..tile.first + tile.t], out),
            None => out.fill(T::ONE),
        }
    }

    pub(super) fn clear(&mut self, store: Store) {
        match store {
            Store::Native(buffer) => self.native[buffer].fill(T::ZERO),
            Store::Wide(buffer) => self.wide[buffer].fill(0.0),
        }
    }

    pub(super) fn clear_part(&mut self, store: Store, length: usize) {
        match store {
            Store::Native(buffer) => self.native[buffer][..length].fill(T::ZERO),
            Store::Wide(buffer) => self.wide[buffer][..length].fill(0.0),
        }
    }
}

/// Asks for the first rows of the data leaves `read`.
pub(super) fn prefetch_rows(read: &[(usize, usize)], call: Call<'_>) {
    for (leaf, width) in read {
        each_type!(call.columns.column(*leaf), values => prefetch(values, *width, call.lines, call.rows));
    }
}
