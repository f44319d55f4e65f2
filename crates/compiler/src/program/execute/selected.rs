//! Execution of products with selected rows of parameter matrices.

use std::ops::Range;

use super::index::check_found;
use super::{Context, Executor, Output, Real, RunError, Tile};
use crate::kernels::{RowsAt, add_selected, dot_selected};
use crate::program::indexed::SelectedRow;
use crate::program::view::{BufferId, Location};

impl<T: Real> Executor<'_, T> {
    pub(super) fn dot_selected(
        &mut self,
        [a, b]: &[SelectedRow; 2],
        width: usize,
        out: BufferId,
        tile: &Tile<'_>,
        leaves: &[Range<usize>],
    ) -> Result<(), RunError> {
        let BufferId::Native(out) = out else { return Ok(()) };
        let mut target = std::mem::take(&mut self.native[out]);
        let rows = [a, b].map(|row| self.rows_at(row, tile, leaves));
        let all = dot_selected(self.simd, rows, width, &mut target[..tile.t]);
        self.native[out] = target;
        check_found(all, self.integers(a, tile.t), a.length)?;
        check_found(all, self.integers(b, tile.t), b.length)
    }

    pub(super) fn add_selected(
        &mut self,
        [from, to]: [&SelectedRow; 2],
        width: usize,
        coefficients: Location,
        factor: f64,
        tile: &Tile<'_>,
        context: &mut Context<'_, '_>,
    ) -> Result<(), RunError> {
        let (BufferId::Native(buffer), Output::Gradient(gradient)) = (coefficients.buffer, &mut *context.output) else {
            return Ok(());
        };
        let coefficients = &self.native[buffer][coefficients.offset * tile.t..][..tile.t];
        let (rows, index) = (self.rows_at(from, tile, context.leaves), self.integers(to, tile.t));
        let acc = &mut gradient[context.leaves[to.leaf].clone()];
        let all = add_selected(self.simd, rows, coefficients, factor * tile.call.scale, acc, index, width);
        check_found(all, rows.index, from.length)?;
        check_found(all, index, to.length)
    }

    fn rows_at<'a>(&'a self, row: &SelectedRow, tile: &Tile<'a>, leaves: &[Range<usize>]) -> RowsAt<'a> {
        RowsAt { matrix: &tile.call.theta[leaves[row.leaf].clone()], index: self.integers(row, tile.t) }
    }

    fn integers(&self, row: &SelectedRow, t: usize) -> &[f64] {
        match row.index {
            BufferId::Wide(index) => &self.wide[index][row.feature * t..][..t],
            BufferId::Native(_) => &[],
        }
    }
}
