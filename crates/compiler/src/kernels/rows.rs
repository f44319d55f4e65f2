//! Kernels that read rows of a data table where they are: `table[line · width..][..width]`.
//!
//! Rows are read [`TOGETHER`] at a time, in chunks of [`CHUNK`] numbers. The last chunk of a row overlaps the one before it,
//! and the numbers in both are left out of it, so that no row ends with single numbers.

use super::element::{Element, Number};
use super::prefetch::prefetch_row;
use super::reduce::join;
use super::simd::{Fma, Simd};

/// Numbers taken at once.
const CHUNK: usize = 8;
/// Rows taken at once.
const TOGETHER: usize = 4;
/// How many rows ahead of their use rows at places all over the table are fetched.
const AHEAD: usize = 12;

/// Which rows of a table.
#[derive(Clone, Copy, Debug)]
pub enum Lines<'a> {
    /// One after another, from this one on.
    Range(usize),
    /// These.
    List(&'a [usize]),
}

impl Lines<'_> {
    /// Row number i of them; `usize::MAX`, which no table has, if there are not so many.
    #[inline(always)]
    pub(super) fn get(self, i: usize) -> usize {
        match self {
            Self::Range(start) => start + i,
            Self::List(lines) => lines.get(i).copied().unwrap_or(usize::MAX),
        }
    }
}

/// out\[i] = Σⱼ xᵢⱼ vectorⱼ.
pub(crate) fn rows_dot<T: Element>(
    simd: Simd,
    table: &[T],
    width: usize,
    lines: Lines<'_>,
    vector: &[T],
    out: &mut [T],
) {
    assert_eq!(vector.len(), width);
    simd.run(
        #[inline(always)]
        |fma| {
            let (groups, rest) = out.as_chunks_mut::<TOGETHER>();
            let far = matches!(lines, Lines::List(_));
            for (i, out) in groups.iter_mut().enumerate() {
                let first = i * TOGETHER;
                if far {
                    for next in 0..TOGETHER {
                        prefetch_row(table, width, lines.get(first + AHEAD + next));
                    }
                }
                *out = dots(fma, std::array::from_fn(|r| row(table, width, lines.get(first + r))), vector);
            }
            let done = groups.len() * TOGETHER;
            for (i, out) in rest.iter_mut().enumerate() {
                [*out] = dots(fma, [row(table, width, lines.get(done + i))], vector);
            }
        },
    );
}

/// acc += Σᵢ coefficientsᵢ xᵢ.
pub(crate) fn rows_accumulate<T: Element>(
    simd: Simd,
    table: &[T],
    width: usize,
    lines: Lines<'_>,
    coefficients: &[T],
    acc: &mut [T],
) {
    assert_eq!(acc.len(), width);
    simd.run(
        #[inline(always)]
        |fma| {
            let (groups, rest) = coefficients.as_chunks::<TOGETHER>();
            for (i, coefficients) in groups.iter().enumerate() {
                let rows = std::array::from_fn(|r| row(table, width, lines.get(i * TOGETHER + r)));
                add_rows(fma, rows, *coefficients, acc);
            }
            let done = groups.len() * TOGETHER;
            for (i, coefficient) in rest.iter().enumerate() {
                add_rows(fma, [row(table, width, lines.get(done + i))], [*coefficient], acc);
            }
        },
    );
}

/// `out[j · lanes + i]` = xᵢⱼ: the rows as a structure of arrays.
pub(crate) fn rows_transpose<S: Number, T: Element>(
    simd: Simd,
    table: &[S],
    width: usize,
    lines: Lines<'_>,
    out: &mut [T],
) {
    if width == 0 {
        return;
    }
    let lanes = out.len() / width;
    assert_eq!(out.len(), lanes * width);
    simd.run(
        #[inline(always)]
        |_| {
            let whole = lanes - lanes % CHUNK;
            for first in (0..whole).step_by(CHUNK) {
                let rows: [&[S]; CHUNK] = std::array::from_fn(|r| row(table, width, lines.get(first + r)));
                for (j, out) in out.chunks_exact_mut(lanes).enumerate() {
                    let values: [T; CHUNK] = std::array::from_fn(|r| rows[r][j].element());
                    out[first..][..CHUNK].copy_from_slice(&values);
                }
            }
            for i in whole..lanes {
                let row = row(table, width, lines.get(i));
                for (out, x) in out.chunks_exact_mut(lanes).zip(row) {
                    out[i] = x.element();
                }
            }
        },
    );
}

/// `out[i · width + j]` = xᵢⱼ.
pub(crate) fn rows_copy<S: Number, T: Element>(simd: Simd, table: &[S], width: usize, lines: Lines<'_>, out: &mut [T]) {
    if width == 0 {
        return;
    }
    simd.run(
        #[inline(always)]
        |_| {
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                for (out, x) in out.iter_mut().zip(row(table, width, lines.get(i))) {
                    *out = x.element();
                }
            }
        },
    );
}

#[inline(always)]
fn row<S>(table: &[S], width: usize, line: usize) -> &[S] {
    &table[line.saturating_mul(width)..][..width]
}

#[inline(always)]
fn dots<T: Element, const R: usize>(fma: Fma, rows: [&[T]; R], vector: &[T]) -> [T; R] {
    let (chunks, rest) = vector.as_chunks::<CHUNK>();
    let Some(end) = vector.last_chunk::<CHUNK>() else { return short_dots(fma, rows, vector) };
    let row_chunks = rows.map(|row| &row.as_chunks::<CHUNK>().0[..chunks.len()]);
    let mut lanes = [[T::ZERO; CHUNK]; R];
    for (c, vector) in chunks.iter().enumerate() {
        for r in 0..R {
            let x = &row_chunks[r][c];
            for i in 0..CHUNK {
                lanes[r][i] = fma.mul_add(x[i], vector[i], lanes[r][i]);
            }
        }
    }
    if !rest.is_empty() {
        let seen = CHUNK - rest.len();
        for r in 0..R {
            if let Some(x) = rows[r].last_chunk::<CHUNK>() {
                for i in 0..CHUNK {
                    let x = if i < seen { T::ZERO } else { x[i] };
                    lanes[r][i] = fma.mul_add(x, end[i], lanes[r][i]);
                }
            }
        }
    }
    lanes.map(
        #[inline(always)]
        |lanes| {
            join(
                lanes,
                #[inline(always)]
                |a, b| a + b,
            )
        },
    )
}

#[inline(always)]
fn short_dots<T: Element, const R: usize>(fma: Fma, rows: [&[T]; R], vector: &[T]) -> [T; R] {
    let mut sums = [T::ZERO; R];
    for (j, vector) in vector.iter().enumerate() {
        for r in 0..R {
            sums[r] = fma.mul_add(rows[r][j], *vector, sums[r]);
        }
    }
    sums
}

#[inline(always)]
fn add_rows<T: Element, const R: usize>(fma: Fma, rows: [&[T]; R], coefficients: [T; R], acc: &mut [T]) {
    let whole = acc.len() - acc.len() % CHUNK;
    let seen = CHUNK - (acc.len() - whole);
    let (chunks, rest) = acc.as_chunks_mut::<CHUNK>();
    let row_chunks = rows.map(|row| &row.as_chunks::<CHUNK>().0[..chunks.len()]);
    for (c, acc) in chunks.iter_mut().enumerate() {
        for r in 0..R {
            let x = &row_chunks[r][c];
            for i in 0..CHUNK {
                acc[i] = fma.mul_add(coefficients[r], x[i], acc[i]);
            }
        }
    }
    if rest.is_empty() {
        return;
    }
    let Some(end) = acc.last_chunk_mut::<CHUNK>() else {
        for (j, acc) in acc.iter_mut().enumerate() {
            for r in 0..R {
                *acc = fma.mul_add(coefficients[r], rows[r][j], *acc);
            }
        }
        return;
    };
    for r in 0..R {
        if let Some(x) = rows[r].last_chunk::<CHUNK>() {
            for i in 0..CHUNK {
                let x = if i < seen { T::ZERO } else { x[i] };
                end[i] = fma.mul_add(coefficients[r], x, end[i]);
            }
        }
    }
}
