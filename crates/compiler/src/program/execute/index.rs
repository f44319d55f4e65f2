//! Values at integers.

use std::ops::Range;

use super::{Machine, Real, RunError, Sink, Tile};
use crate::kernels::{Element, Simd, scatter_lanes, select_lanes};
use crate::program::indexed::{Gathering, Selection, Table};
use crate::program::view::Store;

impl<T: Real> Machine<'_, T> {
    pub(super) fn select(
        &mut self,
        selection: &Selection,
        tile: &Tile<'_>,
        leaves: &[Range<usize>],
    ) -> Result<(), RunError> {
        let Selection { length, inner, .. } = *selection;
        let t = if selection.values_rows { tile.t } else { 1 };
        match (selection.values, selection.table) {
            (Store::Native(out), table) => {
                let mut target = std::mem::take(&mut self.native[out]);
                let done = selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[((outer * selection.indices.len() + position) * inner) * t..][..inner * t];
                    let from = outer * length * inner..(outer + 1) * length * inner;
                    match table {
                        Table::Parameter(leaf) => found(
                            select_lanes(self.simd, &tile.call.theta[leaves[leaf].clone()][from], inner, index, to),
                            index,
                            length,
                        ),
                        Table::Buffer(Store::Native(buffer)) => {
                            found(select_lanes(self.simd, &self.native[buffer][from], inner, index, to), index, length)
                        }
                        Table::Buffer(Store::Wide(buffer)) => {
                            found(select_lanes(self.simd, &self.wide[buffer][from], inner, index, to), index, length)
                        }
                    }
                });
                self.native[out] = target;
                done?;
            }
            (Store::Wide(out), Table::Buffer(Store::Wide(buffer))) => {
                let mut target = std::mem::take(&mut self.wide[out]);
                let done = selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[((outer * selection.indices.len() + position) * inner) * t..][..inner * t];
                    let from = outer * length * inner..(outer + 1) * length * inner;
                    found(select_lanes(self.simd, &self.wide[buffer][from], inner, index, to), index, length)
                });
                self.wide[out] = target;
                done?;
            }
            (Store::Wide(_), Table::Buffer(Store::Native(_)) | Table::Parameter(_)) => {}
        }
        Ok(())
    }

    pub(super) fn select_adjoint(
        &mut self,
        selection: &Selection,
        tile: &Tile<'_>,
        leaves: &[Range<usize>],
        sink: &mut Sink<'_>,
    ) -> Result<(), RunError> {
        let Selection { length, inner, factor, .. } = *selection;
        let t = if selection.index_rows || selection.values_rows { tile.t } else { 1 };
        let Store::Native(values) = selection.values else { return Ok(()) };
        let from = |outer: usize, position: usize| ((outer * selection.indices.len() + position) * inner, inner);
        match (selection.table, sink) {
            (Table::Buffer(Store::Native(out)), _) => {
                let mut target = std::mem::take(&mut self.native[out]);
                let values = &self.native[values];
                let done = selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[outer * length * inner..][..length * inner];
                    add(selection, (values, t), from(outer, position), index, factor, to)
                });
                self.native[out] = target;
                done
            }
            (Table::Parameter(leaf), Sink::Gradient(gradient)) => {
                let target = &mut gradient[leaves[leaf].clone()];
                let values = &self.native[values];
                selection.each(t, &*self.wide, |outer, position, index| {
                    let to = &mut target[outer * length * inner..][..length * inner];
                    add(selection, (values, t), from(outer, position), index, factor * tile.call.scale, to)
                })
            }
            (Table::Parameter(_) | Table::Buffer(Store::Wide(_)), _) => Ok(()),
        }
    }

    /// The adjoint of a selection where each observation has its own sums.
    pub(super) fn select_adjoint_rows(
        &mut self,
        selection: &Selection,
        tile: &Tile<'_>,
        leaves: &[Range<usize>],
        sink: &mut Sink<'_>,
    ) -> Result<(), RunError> {
        let Selection { length, inner, factor, .. } = *selection;
        let t = tile.t;
        let Store::Native(values) = selection.values else { return Ok(()) };
        let value = |values: &[T], feature: usize, lane: usize| {
            if selection.values_rows { values[feature * t + lane] } else { values[feature] }
        };
        let mut buffer = match selection.table {
            Table::Buffer(Store::Native(out)) => Some((out, std::mem::take(&mut self.native[out]))),
            Table::Buffer(Store::Wide(_)) | Table::Parameter(_) => None,
        };
        let values = &self.native[values];
        let done = selection.each(t, &*self.wide, |outer, position, index| {
            for lane in 0..t {
                let at = checked(index[lane % index.len()], length)?;
                for j in 0..inner {
                    let feature = (outer * length + at) * inner + j;
                    let value = value(values, (outer * selection.indices.len() + position) * inner + j, lane);
                    match (&mut buffer, selection.table, &mut *sink) {
                        (Some((_, target)), _, _) => {
                            let sum = &mut target[feature * t + lane];
                            *sum += value * T::from_f64(factor);
                        }
                        (None, Table::Parameter(leaf), Sink::RowGradients(out)) => {
                            let dim = out.len() / tile.call.rows.max(1);
                            let place = (tile.first + lane) * dim + leaves[leaf].start + feature;
                            out[place] += tile.call.scale * factor * value.to_f64();
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

    pub(super) fn gather(&mut self, gathering: &Gathering, t: usize) -> Result<(), RunError> {
        let lanes = if gathering.values_rows { t } else { 1 };
        match (gathering.values, gathering.table) {
            (Store::Native(out), Store::Native(table)) => {
                let mut target = std::mem::take(&mut self.native[out]);
                let source = &self.native[table];
                let done = gathering.each(lanes, self.wide, |from, to| target[to] = source[from]);
                self.native[out] = target;
                done
            }
            (Store::Wide(out), Store::Wide(table)) => {
                let mut target = std::mem::take(&mut self.wide[out]);
                let source = &self.wide[table];
                let done = gathering.each(lanes, self.wide, |from, to| target[to] = source[from]);
                self.wide[out] = target;
                done
            }
            (Store::Native(_), Store::Wide(_)) | (Store::Wide(_), Store::Native(_)) => Ok(()),
        }
    }

    pub(super) fn gather_adjoint(&mut self, gathering: &Gathering, t: usize) -> Result<(), RunError> {
        let lanes = if gathering.values_rows || gathering.index_rows { t } else { 1 };
        let (Store::Native(out), Store::Native(values)) = (gathering.table, gathering.values) else { return Ok(()) };
        let mut target = std::mem::take(&mut self.native[out]);
        let picked = &self.native[values];
        let done = gathering.each(lanes, self.wide, |to, from| target[to] += picked[from]);
        self.native[out] = target;
        done
    }
}

impl Selection {
    /// Calls `each` with the number of the outer block, of the integer, and the integers of the observations.
    fn each(
        &self,
        t: usize,
        wide: &[Vec<f64>],
        mut each: impl FnMut(usize, usize, &[f64]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let Store::Wide(index) = self.index else { return Ok(()) };
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

impl Gathering {
    /// Calls `each` with the places of every element in the table and among the picked values.
    fn each(&self, t: usize, wide: &[Vec<f64>], mut each: impl FnMut(usize, usize)) -> Result<(), RunError> {
        let Store::Wide(index) = self.index else { return Ok(()) };
        let integers = &wide[index];
        for (position, [begin, at]) in self.positions.iter().enumerate() {
            for lane in 0..t {
                let integer = if self.index_rows { integers[at * t + lane] } else { integers[*at] };
                let element = checked(integer, self.length)?;
                let feature = begin.wrapping_add_signed(element as isize * self.stride);
                let place = if self.table_rows { feature * t + lane } else { feature };
                each(place, if self.values_rows { position * t + lane } else { position });
            }
        }
        Ok(())
    }
}

/// Adds the values of the observations (or the one value all have) at their integers.
fn add<T: Element, A: Element>(
    selection: &Selection,
    (values, t): (&[T], usize),
    (feature, inner): (usize, usize),
    index: &[f64],
    factor: f64,
    to: &mut [A],
) -> Result<(), RunError> {
    let lanes = index.len();
    if selection.values_rows && selection.index_rows {
        let done = scatter_lanes(Simd::new(), &values[feature * lanes..][..inner * lanes], inner, index, factor, to);
        return found(done, index, selection.length);
    }
    let length = selection.length;
    if selection.values_rows {
        // All observations add at the same place: the integer is shared.
        let at = checked(index[0], length)?;
        for j in 0..inner {
            let sum: f64 = values[(feature + j) * t..][..t].iter().map(|value| value.to_f64()).sum();
            to[at * inner + j] += A::from_f64(factor * sum);
        }
        return Ok(());
    }
    for integer in index {
        let at = checked(*integer, length)?;
        for j in 0..inner {
            to[at * inner + j] += A::from_f64(factor * values[feature + j].to_f64());
        }
    }
    Ok(())
}

/// An error that names the first integer out of range, unless all were found.
pub(super) fn found(all: bool, index: &[f64], length: usize) -> Result<(), RunError> {
    if all { Ok(()) } else { index.iter().try_for_each(|integer| checked(*integer, length).map(drop)) }
}

fn checked(integer: f64, length: usize) -> Result<usize, RunError> {
    if integer >= 0.0 && integer < length as f64 {
        Ok(integer as usize)
    } else {
        Err(RunError { index: integer, length })
    }
}
