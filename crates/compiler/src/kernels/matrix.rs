//! Products of small matrices, one for each row of a tile, as structures of arrays.
//!
//! Of a product, [`TOGETHER`] elements for [`BLOCK`] lanes are summed in registers. They share one factor: a row of a or a
//! column of b, whichever is the larger reading.

use super::element::Element;
use super::reduce::{join, sum};
use super::simd::{Fma, Simd};

/// Lanes of an element summed at once.
const BLOCK: usize = 16;
/// Elements summed at once.
const TOGETHER: usize = 4;

/// A matrix of which element (i, j) has number i · row + j · col: for each lane one value, the t lanes side by side, or one
/// value for all lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a, T> {
    /// The numbers.
    pub(crate) data: &'a [T],
    /// Elements from one row to the next.
    pub(crate) row: usize,
    /// Elements from one column to the next.
    pub(crate) col: usize,
    /// Whether each lane has its own value.
    pub(crate) lanes: bool,
}

impl<T> Matrix<'_, T> {
    fn transposed(self) -> Self {
        Self { row: self.col, col: self.row, ..self }
    }
}

/// `out[(i · n + j) · t..][..t]` = Σₗ a(i, l) b(l, j), for each lane.
pub(crate) fn lanes_matmul<T: Element>(
    simd: Simd,
    [m, k, n]: [usize; 3],
    t: usize,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    out: &mut [T],
) {
    assert_eq!(out.len(), m * n * t);
    let out = Places { row: n, col: 1, t, data: out };
    if shares_right([m, k, n], &a, &b) {
        let out = Places { row: out.col, col: out.row, ..out };
        multiply(simd, [n, k, m], b.transposed(), a.transposed(), out);
    } else {
        multiply(simd, [m, k, n], a, b, out);
    }
}

/// `acc[i · n + j]` += Σ over lanes and l of a(i, l) b(l, j).
pub(crate) fn lanes_contract<T: Element>(
    simd: Simd,
    [m, k, n]: [usize; 3],
    t: usize,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    acc: &mut [T],
) {
    assert_eq!(acc.len(), m * n);
    let acc = Places { row: n, col: 1, t: 1, data: acc };
    if shares_right([m, k, n], &a, &b) {
        let acc = Places { row: acc.col, col: acc.row, ..acc };
        contract(simd, [n, k, m], t, [b.transposed(), a.transposed()], acc);
    } else {
        contract(simd, [m, k, n], t, [a, b], acc);
    }
}

/// Whether elements of the result that are summed together are those of one column, with b in common.
fn shares_right<T>([m, _, n]: [usize; 3], a: &Matrix<'_, T>, b: &Matrix<'_, T>) -> bool {
    match (a.lanes, b.lanes) {
        (false, true) => true,
        (true, false) => false,
        _ => n < m,
    }
}

/// The result: element (i, j) is `data[(i · row + j · col) · t..][..t]`.
struct Places<'a, T> {
    row: usize,
    col: usize,
    t: usize,
    data: &'a mut [T],
}

fn multiply<T: Element>(simd: Simd, size: [usize; 3], a: Matrix<'_, T>, b: Matrix<'_, T>, out: Places<'_, T>) {
    simd.run(
        #[inline(always)]
        |fma| match (a.lanes, b.lanes) {
            (true, true) => multiply_as::<T, true, true>(fma, size, a, b, out),
            (true, false) => multiply_as::<T, true, false>(fma, size, a, b, out),
            (false, true) => multiply_as::<T, false, true>(fma, size, a, b, out),
            (false, false) => multiply_as::<T, false, false>(fma, size, a, b, out),
        },
    );
}

#[inline(always)]
fn multiply_as<T: Element, const A: bool, const B: bool>(
    fma: Fma,
    [m, k, n]: [usize; 3],
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    out: Places<'_, T>,
) {
    let Places { row, col, t, data } = out;
    let block = |i: usize, j: usize, first: usize| Block { k, t, i, j, first };
    for i in 0..m {
        let whole = n - n % TOGETHER;
        for j in (0..n).step_by(TOGETHER) {
            let mut first = 0;
            while first < t {
                // The last block of lanes overlaps the one before: it computes the same again.
                let full = t >= BLOCK;
                let start = if full { first.min(t - BLOCK) } else { 0 };
                match (j < whole, full) {
                    (true, true) => {
                        let sums = sums::<T, A, B, TOGETHER, BLOCK>(fma, block(i, j, start), &a, &b);
                        for (q, sums) in sums.iter().enumerate() {
                            data[(i * row + (j + q) * col) * t + start..][..BLOCK].copy_from_slice(sums);
                        }
                    }
                    (false, true) => {
                        for j in j..n {
                            let [sums] = sums::<T, A, B, 1, BLOCK>(fma, block(i, j, start), &a, &b);
                            data[(i * row + j * col) * t + start..][..BLOCK].copy_from_slice(&sums);
                        }
                    }
                    (_, false) => {
                        for j in j..n.min(j + TOGETHER) {
                            for lane in 0..t {
                                let [[sum]] = sums::<T, A, B, 1, 1>(fma, block(i, j, lane), &a, &b);
                                data[(i * row + j * col) * t + lane] = sum;
                            }
                        }
                    }
                }
                first += BLOCK;
            }
        }
    }
}

/// Which elements: (i, j), (i, j + 1), … for the lanes from `first` on.
#[derive(Clone, Copy)]
struct Block {
    k: usize,
    t: usize,
    i: usize,
    j: usize,
    first: usize,
}

/// Σₗ a(i, l) b(l, j + q) for Q elements and L lanes.
#[inline(always)]
fn sums<T: Element, const A: bool, const B: bool, const Q: usize, const L: usize>(
    fma: Fma,
    block: Block,
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
) -> [[T; L]; Q] {
    let Block { k, t, i, j, first } = block;
    let mut sums = [[T::ZERO; L]; Q];
    for l in 0..k {
        let x = lanes_of::<T, A, L>(a.data, i * a.row + l * a.col, t, first);
        for (q, sums) in sums.iter_mut().enumerate() {
            let y = lanes_of::<T, B, L>(b.data, l * b.row + (j + q) * b.col, t, first);
            for lane in 0..L {
                sums[lane] = fma.mul_add(x[lane], y[lane], sums[lane]);
            }
        }
    }
    sums
}

/// L lanes of an element.
#[inline(always)]
fn lanes_of<T: Element, const LANES: bool, const L: usize>(
    data: &[T],
    element: usize,
    t: usize,
    first: usize,
) -> [T; L] {
    if LANES {
        let mut lanes = [T::ZERO; L];
        lanes.copy_from_slice(&data[element * t + first..][..L]);
        lanes
    } else {
        [data[element]; L]
    }
}

fn contract<T: Element>(simd: Simd, [m, k, n]: [usize; 3], t: usize, [a, b]: [Matrix<'_, T>; 2], acc: Places<'_, T>) {
    let Places { row, col, data, .. } = acc;
    for i in 0..m {
        match (a.lanes, b.lanes) {
            (true, true) => simd.run(
                #[inline(always)]
                |fma| {
                    let whole = n - n % TOGETHER;
                    for j in (0..whole).step_by(TOGETHER) {
                        let sums = dots::<T, TOGETHER>(fma, Block { k, t, i, j, first: 0 }, &a, &b);
                        for (q, sum) in sums.into_iter().enumerate() {
                            data[i * row + (j + q) * col] += sum;
                        }
                    }
                    for j in whole..n {
                        let [sum] = dots::<T, 1>(fma, Block { k, t, i, j, first: 0 }, &a, &b);
                        data[i * row + j * col] += sum;
                    }
                },
            ),
            _ => {
                // What all lanes have in common is taken out of the sum over lanes.
                for l in 0..k {
                    let element = i * a.row + l * a.col;
                    let x = if a.lanes { sum(simd, &a.data[element * t..][..t]) } else { a.data[element] };
                    for j in 0..n {
                        let element = l * b.row + j * b.col;
                        let y = if b.lanes { sum(simd, &b.data[element * t..][..t]) } else { b.data[element] };
                        let times = if a.lanes || b.lanes { T::ONE } else { T::from_f64(t as f64) };
                        data[i * row + j * col] += times * x * y;
                    }
                }
            }
        }
    }
}

/// Σ over lanes and l of a(i, l) b(l, j + q), for Q elements.
#[inline(always)]
fn dots<T: Element, const Q: usize>(fma: Fma, block: Block, a: &Matrix<'_, T>, b: &Matrix<'_, T>) -> [T; Q] {
    let Block { k, t, i, j, .. } = block;
    let mut sums = [[T::ZERO; BLOCK]; Q];
    let whole = t - t % BLOCK;
    for l in 0..k {
        let x = &a.data[(i * a.row + l * a.col) * t..][..t];
        let y: [&[T]; Q] = std::array::from_fn(|q| &b.data[(l * b.row + (j + q) * b.col) * t..][..t]);
        for first in (0..whole).step_by(BLOCK) {
            let x = lanes_of::<T, true, BLOCK>(x, 0, t, first);
            for (q, sums) in sums.iter_mut().enumerate() {
                let y = lanes_of::<T, true, BLOCK>(y[q], 0, t, first);
                for lane in 0..BLOCK {
                    sums[lane] = fma.mul_add(x[lane], y[lane], sums[lane]);
                }
            }
        }
        for (q, sums) in sums.iter_mut().enumerate() {
            for ((sum, x), y) in sums.iter_mut().zip(&x[whole..]).zip(&y[q][whole..]) {
                *sum = fma.mul_add(*x, *y, *sum);
            }
        }
    }
    sums.map(
        #[inline(always)]
        |sums| {
            join(
                sums,
                #[inline(always)]
                |a, b| a + b,
            )
        },
    )
}
