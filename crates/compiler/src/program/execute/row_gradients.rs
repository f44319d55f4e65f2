//! Output of the gradient of each row of a tile.

use std::ops::Range;

use super::{Executor, Real, Tile};
use crate::kernels::{Element, Fma, RowSelection};
use crate::program::lower::{Gradient, Term};
use crate::program::view::BufferId;

/// The number of output values that are written together. The values of a row are far apart in the buffers, and the
/// values of a buffer are far apart in the output. A group of this size stays in the L1 cache.
const GROUP_VALUES: usize = 1024;
/// The minimum number of rows that are written together.
const GROUP_ROWS: usize = 16;

/// The target of a term: some rows of the output, starting with row `first` of the tile, and the range of coordinates
/// of the term.
struct RowTarget<'a> {
    out: &'a mut [f64],
    dim: usize,
    first: usize,
    range: &'a Range<usize>,
}

impl<T: Real> Executor<'_, T> {
    /// Adds the gradient of each row of the tile to its row of the output, or writes it if `initialized` is false. A
    /// row of the output has one value per coordinate.
    pub(super) fn row_gradients(
        &self,
        gradients: &[Gradient],
        leaves: &[Range<usize>],
        tile: &Tile<'_>,
        out: &mut [f64],
        initialized: bool,
    ) {
        let dim = (out.len() / tile.call.rows.max(1)).max(1);
        let rows = (GROUP_VALUES / dim).max(GROUP_ROWS);
        let written: usize = gradients.iter().filter(|leaf| !leaf.terms.is_empty()).map(|leaf| leaf.size).sum();
        for (group, out) in tile.rows_of(out).chunks_mut(rows * dim).enumerate() {
            if !initialized && written < dim {
                out.fill(0.0);
            }
            for gradient in gradients {
                for (number, term) in gradient.terms.iter().enumerate() {
                    let range = &leaves[gradient.leaf];
                    let target = RowTarget { out: &mut *out, dim, first: group * rows, range };
                    // The first term of every coordinate overwrites the previous contents.
                    if number == 0 && !initialized && written == dim {
                        self.write::<false>(term, tile, target);
                    } else {
                        self.write::<true>(term, tile, target);
                    }
                }
            }
        }
    }

    /// Adds a term to its target, or writes it.
    fn write<const ADD: bool>(
        &self,
        term: &Term,
        tile: &Tile<'_>,
        RowTarget { out, dim, first, range }: RowTarget<'_>,
    ) {
        let (scale, t) = (tile.call.scale, tile.t);
        match term {
            Term::Number(number) => {
                let all = out.chunks_mut(dim).flat_map(|row| &mut row[range.clone()]);
                all.for_each(|sum| *sum = scale * number + if ADD { *sum } else { 0.0 });
            }
            Term::DataRow { leaf, coefficients: BufferId::Native(buffer), offset, factor } => {
                let Some(table) = T::column(tile.call.columns.column(*leaf)) else { return };
                let coefficients = &self.native[*buffer][offset * t..][first..t];
                let (width, start, factor, selection) = (range.len(), range.start, scale * factor, tile.selection());
                self.simd.run(
                    #[inline(always)]
                    move |fma| {
                        for (i, (out, coefficient)) in out.chunks_exact_mut(dim).zip(coefficients).enumerate() {
                            let index = match selection {
                                RowSelection::Range(start) => start + first + i,
                                RowSelection::List(rows) => rows[first + i],
                            };
                            let row = &table[index * width..][..width];
                            write_row::<ADD, T>(fma, factor * coefficient.to_f64(), row, &mut out[start..][..width]);
                        }
                    },
                );
            }
            Term::Dense { buffer: BufferId::Native(buffer), offset, rows: true, factor } => {
                let features = &self.native[*buffer][offset * t..][..range.len() * t];
                let (start, factor) = (range.start, scale * factor);
                self.simd.run(
                    #[inline(always)]
                    move |fma| match range.len() {
                        1 => {
                            let (features, columns) =
                                (TileFeatures { values: features, t, first }, OutputColumns { out, dim, start });
                            write_transposed::<1, ADD, T>(fma, factor, features, columns)
                        }
                        2 => {
                            let (features, columns) =
                                (TileFeatures { values: features, t, first }, OutputColumns { out, dim, start });
                            write_transposed::<2, ADD, T>(fma, factor, features, columns)
                        }
                        _ => {
                            for (feature, lanes) in features.chunks_exact(t).enumerate() {
                                let rows = out.chunks_exact_mut(dim).zip(&lanes[first..]);
                                rows.for_each(|(row, value)| {
                                    write::<ADD, T>(fma, factor, *value, &mut row[start + feature])
                                });
                            }
                        }
                    },
                );
            }
            Term::Dense { buffer: BufferId::Native(buffer), offset, rows: false, factor } => {
                let values = &self.native[*buffer][*offset..offset + range.len()];
                let (range, factor) = (range.clone(), scale * factor);
                self.simd.run(
                    #[inline(always)]
                    move |fma| {
                        for row in out.chunks_exact_mut(dim) {
                            write_row::<ADD, T>(fma, factor, values, &mut row[range.clone()]);
                        }
                    },
                );
            }
            Term::Dense { buffer: BufferId::Wide(_), .. } | Term::DataRow { coefficients: BufferId::Wide(_), .. } => {}
        }
    }
}

/// Values of some features of a tile, from observation `first` on.
struct TileFeatures<'a, T> {
    values: &'a [T],
    /// The number of observations of the tile.
    t: usize,
    first: usize,
}

/// Columns of the output from `start` on. A row has `dim` values.
struct OutputColumns<'a> {
    out: &'a mut [f64],
    dim: usize,
    start: usize,
}

/// sum += factor · value, or sum = factor · value.
#[inline(always)]
fn write<const ADD: bool, T: Element>(fma: Fma, factor: f64, value: T, sum: &mut f64) {
    *sum = if ADD { fma.mul_add(factor, value.to_f64(), *sum) } else { factor * value.to_f64() };
}

#[inline(always)]
fn write_row<const ADD: bool, T: Element>(fma: Fma, factor: f64, row: &[T], out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, value)| write::<ADD, T>(fma, factor, *value, out));
}

/// Transposes W features of `t` observations, starting with observation `first`, to W adjacent values in each row.
#[inline(always)]
fn write_transposed<const W: usize, const ADD: bool, T: Element>(
    fma: Fma,
    factor: f64,
    TileFeatures { values, t, first }: TileFeatures<'_, T>,
    OutputColumns { out, dim, start }: OutputColumns<'_>,
) {
    let lanes: [&[T]; W] = std::array::from_fn(|feature| &values[feature * t + first..][..out.len() / dim]);
    for (i, row) in out.chunks_exact_mut(dim).enumerate() {
        let row = &mut row[start..][..W];
        for feature in 0..W {
            write::<ADD, T>(fma, factor, lanes[feature][i], &mut row[feature]);
        }
    }
}
