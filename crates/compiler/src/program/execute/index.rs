//! Execution of selections and gathers.

use std::ops::Range;

use super::{Executor, Output, Real, RunError, Tile};
use crate::kernels::{Element, Simd, scatter_lanes, select_lanes};
use crate::program::indexed::{GatherOperands, SelectOperands, Table};
use crate::program::view::BufferId;

impl<T: Real> Executor<'_, T> {
    pub(super) fn select(
        &mut self,
        selection: &SelectOperands,
        tile: &Tile<'_>,
        leaves: &[Range<usize>],
    ) -> Result<(), RunError> {
        let SelectOperands { length, inner, .. } = *selection;
        let t = if selection.values_rows { tile.t } else { 1 };
        match (selection.values, selection.table) {
            (BufferId::Native(out), table) => {
                let mut target = std::mem::take(&mut self.native[out]);
                let done = selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[((outer * selection.indices.len() + position) * inner) * t..][..inner * t];
                    let from = outer * length * inner..(outer + 1) * length * inner;
                    match table {
                        Table::Parameter(leaf) => check_found(
                            select_lanes(self.simd, &tile.call.theta[leaves[leaf].clone()][from], inner, index, to),
                            index,
                            length,
                        ),
                        Table::Buffer(BufferId::Native(buffer)) => check_found(
                            select_lanes(self.simd, &self.native[buffer][from], inner, index, to),
                            index,
                            length,
                        ),
                        Table::Buffer(BufferId::Wide(buffer)) => check_found(
                            select_lanes(self.simd, &self.wide[buffer][from], inner, index, to),
                            index,
                            length,
                        ),
                    }
                });
                self.native[out] = target;
                done?;
            }
            (BufferId::Wide(out), Table::Buffer(BufferId::Wide(buffer))) => {
                let mut target = std::mem::take(&mut self.wide[out]);
                let done = selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[((outer * selection.indices.len() + position) * inner) * t..][..inner * t];
                    let from = outer * length * inner..(outer + 1) * length * inner;
                    check_found(select_lanes(self.simd, &self.wide[buffer][from], inner, index, to), index, length)
                });
                self.wide[out] = target;
                done?;
            }
            (BufferId::Wide(_), Table::Buffer(BufferId::Native(_)) | Table::Parameter(_)) => {}
        }
        Ok(())
    }

    pub(super) fn select_adjoint(
        &mut self,
        selection: &SelectOperands,
        tile: &Tile<'_>,
        leaves: &[Range<usize>],
        output: &mut Output<'_>,
    ) -> Result<(), RunError> {
        let SelectOperands { length, inner, factor, .. } = *selection;
        let t = if selection.index_rows || selection.values_rows { tile.t } else { 1 };
        let BufferId::Native(values) = selection.values else { return Ok(()) };
        let from = |outer: usize, position: usize| (outer * selection.indices.len() + position) * inner;
        match (selection.table, output) {
            (Table::Buffer(BufferId::Native(out)), _) => {
                let mut target = std::mem::take(&mut self.native[out]);
                let values = &self.native[values];
                let done = selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[outer * length * inner..][..length * inner];
                    add(selection, values, t, from(outer, position), index, factor, to)
                });
                self.native[out] = target;
                done
            }
            (Table::Parameter(leaf), Output::Gradient(gradient)) => {
                let target = &mut gradient[leaves[leaf].clone()];
                let values = &self.native[values];
                selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[outer * length * inner..][..length * inner];
                    add(selection, values, t, from(outer, position), index, factor * tile.call.scale, to)
                })
            }
            (Table::Parameter(_) | Table::Buffer(BufferId::Wide(_)), _) => Ok(()),
        }
    }

    /// Applies the adjoint of a selection with separate sums for each observation.
    pub(super) fn select_adjoint_rows(
        &mut self,
        selection: &SelectOperands,
        tile: &Tile<'_>,
        leaves: &[Range<usize>],
        output: &mut Output<'_>,
    ) -> Result<(), RunError> {
        let SelectOperands { length, inner, factor, .. } = *selection;
        let t = tile.t;
        let BufferId::Native(values) = selection.values else { return Ok(()) };
        let value = |values: &[T], feature: usize, lane: usize| {
            if selection.values_rows { values[feature * t + lane] } else { values[feature] }
        };
        let mut buffer = match selection.table {
            Table::Buffer(BufferId::Native(out)) => Some((out, std::mem::take(&mut self.native[out]))),
            Table::Buffer(BufferId::Wide(_)) | Table::Parameter(_) => None,
        };
        let values = &self.native[values];
        let done = selection.each(t, &*self.wide, |outer, position, index| {
            for lane in 0..t {
                let at = check_index(index[lane % index.len()], length)?;
                for j in 0..inner {
                    let feature = (outer * length + at) * inner + j;
                    let value = value(values, (outer * selection.indices.len() + position) * inner + j, lane);
                    match (&mut buffer, selection.table, &mut *output) {
                        (Some((_, target)), _, _) => {
                            let sum = &mut target[feature * t + lane];
                            *sum += value * T::from_f64(factor);
                        }
                        (None, Table::Parameter(leaf), Output::RowGradients(out)) => {
                            let dim = out.len() / tile.call.rows.max(1);
                            let offset = (tile.first + lane) * dim + leaves[leaf].start + feature;
                            out[offset] += tile.call.scale * factor * value.to_f64();
                        }
                        _ => {}
                    }
                }
            }
            Ok(())
        });
        if let Some((out, target)) = buffer {
            self.native[out] = target;
        }
        done
    }

    pub(super) fn gather(&mut self, gathering: &GatherOperands, t: usize) -> Result<(), RunError> {
        let lanes = if gathering.values_rows { t } else { 1 };
        match (gathering.values, gathering.table) {
            (BufferId::Native(out), BufferId::Native(table)) => {
                let mut target = std::mem::take(&mut self.native[out]);
                let source = &self.native[table];
                let done = gathering.each(lanes, self.wide, |from, to| target[to] = source[from]);
                self.native[out] = target;
                done
            }
            (BufferId::Wide(out), BufferId::Wide(table)) => {
                let mut target = std::mem::take(&mut self.wide[out]);
                let source = &self.wide[table];
                let done = gathering.each(lanes, self.wide, |from, to| target[to] = source[from]);
                self.wide[out] = target;
                done
            }
            (BufferId::Native(_), BufferId::Wide(_)) | (BufferId::Wide(_), BufferId::Native(_)) => Ok(()),
        }
    }

    pub(super) fn gather_adjoint(&mut self, gathering: &GatherOperands, t: usize) -> Result<(), RunError> {
        let lanes = if gathering.values_rows || gathering.index_rows { t } else { 1 };
        let (BufferId::Native(out), BufferId::Native(values)) = (gathering.table, gathering.values) else {
            return Ok(());
        };
        let mut target = std::mem::take(&mut self.native[out]);
        let picked = &self.native[values];
        let done = gathering.each(lanes, self.wide, |to, from| target[to] += picked[from]);
        self.native[out] = target;
        done
    }
}

impl SelectOperands {
    /// Calls `each` with the index of the outer block, the index of the integer, and the integers of the observations.
    fn each(
        &self,
        t: usize,
        wide: &[Vec<f64>],
        mut each: impl FnMut(usize, usize, &[f64]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let BufferId::Wide(index) = self.index else { return Ok(()) };
        let integers = &wide[index];
        for outer in 0..self.outer {
            for (position, start) in self.indices.iter().enumerate() {
                let lanes = if self.index_rows { &integers[start * t..][..t] } else { &integers[*start..start + 1] };
                each(outer, position, lanes)?;
            }
        }
        Ok(())
    }
}

impl GatherOperands {
    /// Calls `each` with the position of every element in the table and among the gathered values.
    fn each(&self, t: usize, wide: &[Vec<f64>], mut each: impl FnMut(usize, usize)) -> Result<(), RunError> {
        let BufferId::Wide(index) = self.index else { return Ok(()) };
        let integers = &wide[index];
        for (position, [begin, at]) in self.positions.iter().enumerate() {
            for lane in 0..t {
                let integer = if self.index_rows { integers[at * t + lane] } else { integers[*at] };
                let element = check_index(integer, self.length)?;
                let feature = begin.wrapping_add_signed(element as isize * self.stride);
                let offset = if self.table_rows { feature * t + lane } else { feature };
                each(offset, if self.values_rows { position * t + lane } else { position });
            }
        }
        Ok(())
    }
}

/// Adds the values of the observations, or the shared value, at their indices.
fn add<T: Element, A: Element>(
    selection: &SelectOperands,
    values: &[T],
    t: usize,
    feature: usize,
    index: &[f64],
    factor: f64,
    to: &mut [A],
) -> Result<(), RunError> {
    let (lanes, inner) = (index.len(), selection.inner);
    if selection.values_rows && selection.index_rows {
        let done = scatter_lanes(Simd::new(), &values[feature * lanes..][..inner * lanes], inner, index, factor, to);
        return check_found(done, index, selection.length);
    }
    let length = selection.length;
    if selection.values_rows {
        // The index is shared, so that all observations add to the same element.
        let at = check_index(index[0], length)?;
        for j in 0..inner {
            let sum: f64 = values[(feature + j) * t..][..t].iter().map(|value| value.to_f64()).sum();
            to[at * inner + j] += A::from_f64(factor * sum);
        }
        return Ok(());
    }
    for integer in index {
        let at = check_index(*integer, length)?;
        for j in 0..inner {
            to[at * inner + j] += A::from_f64(factor * values[feature + j].to_f64());
        }
    }
    Ok(())
}

/// Returns an error with the first index out of range, unless all indices are valid.
pub(super) fn check_found(all: bool, index: &[f64], length: usize) -> Result<(), RunError> {
    if all { Ok(()) } else { index.iter().try_for_each(|integer| check_index(*integer, length).map(drop)) }
}

fn check_index(integer: f64, length: usize) -> Result<usize, RunError> {
    if integer >= 0.0 && integer < length as f64 {
        Ok(integer as usize)
    } else {
        Err(RunError { index: integer, length })
    }
}
