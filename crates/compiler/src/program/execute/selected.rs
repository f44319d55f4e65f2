//! Products with rows of parameter matrices at integers that each observation has.

use std::ops::Range;

use super::index::found;
use super::{Machine, Real, RunError, Sink, Tile};
use crate::kernels::{RowsAt, add_selected, dot_selected};
use crate::program::indexed::SelectedRow;
use crate::program::view::Store;

impl<T: Real> Machine<'_, T> {
    pub(super) fn dot_selected(
        &mut self,
        [a, b]: &[SelectedRow; 2],
        width: usize,
        out: Store,
        (tile, leaves): (&Tile<'_>, &[Range<usize>]),
    ) -> Result<(), RunError> {
        let Store::Native(out) = out else { return Ok(()) };
        let mut target = std::mem::take(&mut self.native[out]);
        let rows = [a, b].map(|row| self.rows_at(row, tile, leaves));
        let all = dot_selected(self.simd, rows, width, &mut target[..tile.t]);
        self.native[out] = target;
        found(all, self.integers(a, tile.t), a.length)?;
        found(all, self.integers(b, tile.t), b.length)
    }

    pub(super) fn add_selected(
        &mut self,
        [from, to]: [&SelectedRow; 2],
        width: usize,
        ((coefficients, offset), factor): ((Store, usize), f64),
        (tile, leaves): (&Tile<'_>, &[Range<usize>]),
        sink: &mut Sink<'_>,
    ) -> Result<(), RunError> {
        let (Store::Native(coefficients), Sink::Gradient(gradient)) = (coefficients, sink) else { return Ok(()) };
        let coefficients = &self.native[coefficients][offset * tile.t..][..tile.t];
        let (rows, index) = (self.rows_at(from, tile, leaves), self.integers(to, tile.t));
        let acc = &mut gradient[leaves[to.leaf].clone()];
        let all = add_selected(self.simd, rows, (coefficients, factor * tile.call.scale), (acc, index), width);
        found(all, rows.index, from.length)?;
        found(all, index, to.length)
    }

    fn rows_at<'a>(&'a self, row: &SelectedRow, tile: &Tile<'a>, leaves: &[Range<usize>]) -> RowsAt<'a> {
        RowsAt { matrix: &tile.call.theta[leaves[row.leaf].clone()], index: self.integers(row, tile.t) }
    }

    fn integers(&self, row: &SelectedRow, t: usize) -> &[f64] {
        match row.index {
            Store::Wide(index) => &self.wide[index][row.feature * t..][..t],
            Store::Native(_) => &[],
        }
    }
}
