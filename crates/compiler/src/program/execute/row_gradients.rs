//! The gradient of each row of a tile on its way out.

use std::ops::Range;

use super::{Machine, Real, Tile};
use crate::kernels::{Lines, add_to_f64};
use crate::program::lower::{Gradient, Term};
use crate::program::view::Store;

/// Numbers of the result that are written at once, for at least so many rows: one row's numbers lie far apart in the buffers, and one
/// buffer's in the result, but these stay in the nearest cache.
const TOGETHER: usize = 1024;
const ROWS: usize = 16;

impl<T: Real> Machine<'_, T> {
    /// Adds the gradient of each row of the tile to its row of `out`, which has as many numbers per row as there are coordinates;
    /// or writes it, if nothing is there yet.
    pub(super) fn row_gradients(
        &self,
        gradients: &[Gradient],
        leaves: &[Range<usize>],
        tile: Tile<'_>,
        (out, begun): (&mut [f64], bool),
    ) {
        let dim = (out.len() / tile.call.rows.max(1)).max(1);
        let rows = (TOGETHER / dim).max(ROWS);
        for (group, out) in tile.rows_of(out).chunks_mut(rows * dim).enumerate() {
            if !begun {
                out.fill(0.0);
            }
            for gradient in gradients {
                for term in &gradient.terms {
                    self.add_term(term, &leaves[gradient.leaf], (tile, group * rows), (&mut *out, dim));
                }
            }
        }
    }

    /// Adds a term to the coordinates `range` of some rows of the tile, from `first` on.
    fn add_term(
        &self,
        term: &Term,
        range: &Range<usize>,
        (tile, first): (Tile<'_>, usize),
        (out, dim): (&mut [f64], usize),
    ) {
        let (scale, t) = (tile.call.scale, tile.t);
        match term {
            Term::Number(number) => {
                out.chunks_mut(dim).flat_map(|row| &mut row[range.clone()]).for_each(|sum| *sum += scale * number);
            }
            Term::DataRow { leaf, coefficients: Store::Native(buffer), offset, factor } => {
                let Some(table) = T::column(tile.call.columns.column(*leaf)) else { return };
                let coefficients = &self.native[*buffer][offset * t..][first..t];
                for (i, (out, coefficient)) in out.chunks_mut(dim).zip(coefficients).enumerate() {
                    let line = match tile.lines() {
                        Lines::Range(start) => start + first + i,
                        Lines::List(lines) => lines[first + i],
                    };
                    let row = &table[line * range.len()..][..range.len()];
                    add_to_f64(self.simd, scale * factor * coefficient.to_f64(), row, &mut out[range.clone()]);
                }
            }
            Term::Dense { store: Store::Native(buffer), offset, rows: true, factor } => {
                for (feature, coordinate) in range.clone().enumerate() {
                    let lanes = &self.native[*buffer][(offset + feature) * t..][first..t];
                    let factor = scale * factor;
                    let rows = out.chunks_exact_mut(dim).zip(lanes);
                    rows.for_each(|(row, value)| row[coordinate] += factor * value.to_f64());
                }
            }
            Term::Dense { store: Store::Native(buffer), offset, rows: false, factor } => {
                let values = &self.native[*buffer][*offset..offset + range.len()];
                for row in out.chunks_mut(dim) {
                    add_to_f64(self.simd, scale * factor, values, &mut row[range.clone()]);
                }
            }
            Term::Dense { store: Store::Wide(_), .. } | Term::DataRow { coefficients: Store::Wide(_), .. } => {}
        }
    }
}
