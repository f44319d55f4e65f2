//! The gradient of each row of a tile on its way out.

use std::ops::Range;

use super::{Machine, Real, Tile};
use crate::kernels::{Element, Fma, Lines};
use crate::program::lower::{Gradient, Term};
use crate::program::view::Store;

/// Numbers of the result that are written at once, for at least so many rows: one row's numbers lie far apart in the buffers, and one
/// buffer's in the result, but these stay in the nearest cache.
const TOGETHER: usize = 1024;
const ROWS: usize = 16;

/// Some rows of the result, from row `first` of the tile on, and the coordinates in them that a term belongs to.
struct Place<'a> {
    out: &'a mut [f64],
    dim: usize,
    first: usize,
    range: &'a Range<usize>,
}

impl<T: Real> Machine<'_, T> {
    /// Adds the gradient of each row of the tile to its row of `out`, which has as many numbers per row as there are coordinates;
    /// or writes it, if nothing is there yet.
    pub(super) fn row_gradients(
        &self,
        gradients: &[Gradient],
        leaves: &[Range<usize>],
        tile: &Tile<'_>,
        (out, begun): (&mut [f64], bool),
    ) {
        let dim = (out.len() / tile.call.rows.max(1)).max(1);
        let rows = (TOGETHER / dim).max(ROWS);
        let written: usize = gradients.iter().filter(|leaf| !leaf.terms.is_empty()).map(|leaf| leaf.size).sum();
        for (group, out) in tile.rows_of(out).chunks_mut(rows * dim).enumerate() {
            if !begun && written < dim {
                out.fill(0.0);
            }
            for gradient in gradients {
                for (number, term) in gradient.terms.iter().enumerate() {
                    let range = &leaves[gradient.leaf];
                    let place = Place { out: &mut *out, dim, first: group * rows, range };
                    // The first term of every coordinate is written over whatever was there before.
                    if number == 0 && !begun && written == dim {
                        self.put::<false>(term, tile, place);
                    } else {
                        self.put::<true>(term, tile, place);
                    }
                }
            }
        }
    }

    /// Adds a term to its place, or writes it there.
    fn put<const ADD: bool>(&self, term: &Term, tile: &Tile<'_>, Place { out, dim, first, range }: Place<'_>) {
        let (scale, t) = (tile.call.scale, tile.t);
        match term {
            Term::Number(number) => {
                let all = out.chunks_mut(dim).flat_map(|row| &mut row[range.clone()]);
                all.for_each(|sum| *sum = scale * number + if ADD { *sum } else { 0.0 });
            }
            Term::DataRow { leaf, coefficients: Store::Native(buffer), offset, factor } => {
                let Some(table) = T::column(tile.call.columns.column(*leaf)) else { return };
                let coefficients = &self.native[*buffer][offset * t..][first..t];
                let (width, start, factor, lines) = (range.len(), range.start, scale * factor, tile.lines());
                self.simd.run(
                    #[inline(always)]
                    move |fma| {
                        for (i, (out, coefficient)) in out.chunks_exact_mut(dim).zip(coefficients).enumerate() {
                            let line = match lines {
                                Lines::Range(start) => start + first + i,
                                Lines::List(lines) => lines[first + i],
                            };
                            let row = &table[line * width..][..width];
                            put_row::<ADD, T>(fma, factor * coefficient.to_f64(), row, &mut out[start..][..width]);
                        }
                    },
                );
            }
            Term::Dense { store: Store::Native(buffer), offset, rows: true, factor } => {
                let features = &self.native[*buffer][offset * t..][..range.len() * t];
                let (start, factor) = (range.start, scale * factor);
                self.simd.run(
                    #[inline(always)]
                    move |fma| match range.len() {
                        1 => put_turned::<1, ADD, T>(fma, factor, (features, t, first), (out, dim, start)),
                        2 => put_turned::<2, ADD, T>(fma, factor, (features, t, first), (out, dim, start)),
                        _ => {
                            for (feature, lanes) in features.chunks_exact(t).enumerate() {
                                let rows = out.chunks_exact_mut(dim).zip(&lanes[first..]);
                                rows.for_each(|(row, value)| {
                                    put::<ADD, T>(fma, factor, *value, &mut row[start + feature])
                                });
                            }
                        }
                    },
                );
            }
            Term::Dense { store: Store::Native(buffer), offset, rows: false, factor } => {
                let values = &self.native[*buffer][*offset..offset + range.len()];
                let (range, factor) = (range.clone(), scale * factor);
                self.simd.run(
                    #[inline(always)]
                    move |fma| {
                        for row in out.chunks_exact_mut(dim) {
                            put_row::<ADD, T>(fma, factor, values, &mut row[range.clone()]);
                        }
                    },
                );
            }
            Term::Dense { store: Store::Wide(_), .. } | Term::DataRow { coefficients: Store::Wide(_), .. } => {}
        }
    }
}

/// sum += factor · value, or sum = factor · value.
#[inline(always)]
fn put<const ADD: bool, T: Element>(fma: Fma, factor: f64, value: T, sum: &mut f64) {
    *sum = if ADD { fma.mul_add(factor, value.to_f64(), *sum) } else { factor * value.to_f64() };
}

#[inline(always)]
fn put_row<const ADD: bool, T: Element>(fma: Fma, factor: f64, row: &[T], out: &mut [f64]) {
    out.iter_mut().zip(row).for_each(|(out, value)| put::<ADD, T>(fma, factor, *value, out));
}

/// W features of `t` observations each, from observation `first` on, to W neighbours in each row.
#[inline(always)]
fn put_turned<const W: usize, const ADD: bool, T: Element>(
    fma: Fma,
    factor: f64,
    (features, t, first): (&[T], usize, usize),
    (out, dim, start): (&mut [f64], usize, usize),
) {
    let lanes: [&[T]; W] = std::array::from_fn(|feature| &features[feature * t + first..][..out.len() / dim]);
    for (i, row) in out.chunks_exact_mut(dim).enumerate() {
        let row = &mut row[start..][..W];
        for feature in 0..W {
            put::<ADD, T>(fma, factor, lanes[feature][i], &mut row[feature]);
        }
    }
}
