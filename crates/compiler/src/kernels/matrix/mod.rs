//! Products of small matrices, one for each row of a tile, as structures of arrays.
//!
//! A group of [`GROUP`] elements of a product is accumulated in registers. The elements share one factor: a row of a or
//! a column of b.

mod contract;
mod shared;
mod solve;
#[cfg(test)]
mod tests;

use super::element::Element;
use super::simd::Simd;
use contract::contract;
pub(crate) use shared::shared_matmul;
pub(crate) use solve::lanes_solve;

/// The number of elements that are accumulated together.
const GROUP: usize = 6;

/// A matrix whose element (i, j) has the index i · row + j · col. An element consists of one value for each of the t
/// lanes, which are contiguous, or of one value for all lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a, T> {
    /// The values.
    pub(crate) data: &'a [T],
    /// The stride between rows, in elements.
    pub(crate) row: usize,
    /// The stride between columns, in elements.
    pub(crate) col: usize,
    /// True if each lane has its own values.
    pub(crate) lanes: bool,
}

impl<'a, T: Element> Matrix<'a, T> {
    fn transposed(self) -> Self {
        Self { row: self.col, col: self.row, ..self }
    }

    /// Returns the lanes of an element, or its single value.
    #[inline(always)]
    fn element(self, i: usize, j: usize, t: usize) -> &'a [T] {
        let number = i * self.row + j * self.col;
        if self.lanes { &self.data[number * t..][..t] } else { &self.data[number..][..1] }
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
    if shares_right([m, k, n], &a, &b) {
        let factors = Factors { size: [n, k, m], t, a: b.transposed(), b: a.transposed() };
        simd.run_vectors(Multiply { factors, out: ResultMatrix { row: 1, col: n, data: out } });
    } else {
        let factors = Factors { size: [m, k, n], t, a, b };
        simd.run_vectors(Multiply { factors, out: ResultMatrix { row: n, col: 1, data: out } });
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
    if shares_right([m, k, n], &a, &b) {
        let factors = Factors { size: [n, k, m], t, a: b.transposed(), b: a.transposed() };
        contract(simd, factors, ResultMatrix { row: 1, col: n, data: acc });
    } else {
        contract(simd, Factors { size: [m, k, n], t, a, b }, ResultMatrix { row: n, col: 1, data: acc });
    }
}

/// Returns whether the elements of a group belong to one column, with b as the shared factor.
fn shares_right<T>([m, _, n]: [usize; 3], a: &Matrix<'_, T>, b: &Matrix<'_, T>) -> bool {
    match (a.lanes, b.lanes) {
        (false, true) => true,
        (true, false) => false,
        _ => n < m,
    }
}

/// The factors. If only one of them has its own values in each lane, it is `a`.
#[derive(Clone, Copy)]
struct Factors<'a, T> {
    size: [usize; 3],
    t: usize,
    a: Matrix<'a, T>,
    b: Matrix<'a, T>,
}

/// The result. Element (i, j) has the index i · row + j · col.
struct ResultMatrix<'a, T> {
    row: usize,
    col: usize,
    data: &'a mut [T],
}

struct Multiply<'a, T> {
    factors: Factors<'a, T>,
    out: ResultMatrix<'a, T>,
}

impl<T: Element> pulp::WithSimd for Multiply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { factors, out } = self;
        match (factors.a.lanes, factors.b.lanes) {
            (true, true) => multiply::<T, S, true, true>(simd, factors, out),
            (true, false) => multiply::<T, S, true, false>(simd, factors, out),
            (false, _) => multiply::<T, S, false, false>(simd, factors, out),
        }
    }
}

#[inline(always)]
fn multiply<T: Element, S: pulp::Simd, const A: bool, const B: bool>(
    simd: S,
    factors: Factors<'_, T>,
    mut out: ResultMatrix<'_, T>,
) {
    let [m, _, n] = factors.size;
    let whole = n - n % GROUP;
    for i in 0..m {
        for j in (0..whole).step_by(GROUP) {
            elements::<T, S, A, B, GROUP>(simd, factors, [i, j], &mut out);
        }
        for j in (whole..n - n % 2).step_by(2) {
            elements::<T, S, A, B, 2>(simd, factors, [i, j], &mut out);
        }
        if n % 2 == 1 {
            elements::<T, S, A, B, 1>(simd, factors, [i, n - 1], &mut out);
        }
    }
}

/// Computes elements (i, j), …, (i, j + Q − 1) of the product, two vectors of lanes at a time.
#[inline(always)]
fn elements<T: Element, S: pulp::Simd, const A: bool, const B: bool, const Q: usize>(
    simd: S,
    factors: Factors<'_, T>,
    position: [usize; 2],
    out: &mut ResultMatrix<'_, T>,
) {
    let t = factors.t;
    let vector = size_of::<T::Vector<S>>() / size_of::<T>();
    let mut first = 0;
    while first + 2 * vector <= t {
        block::<T, S, A, B, Q, 2>(simd, factors, position, first, out);
        first += 2 * vector;
    }
    if first + vector <= t {
        block::<T, S, A, B, Q, 1>(simd, factors, position, first, out);
        first += vector;
    }
    if first < t && t >= vector {
        // The last vector overlaps the previous one and computes the same values again.
        block::<T, S, A, B, Q, 1>(simd, factors, position, t - vector, out);
    } else {
        let Factors { size: [_, k, _], a, b, .. } = factors;
        let [i, j] = position;
        for j in j..j + Q {
            for lane in first..t {
                let product =
                    |l| a.element(i, l, t)[if A { lane } else { 0 }] * b.element(l, j, t)[if B { lane } else { 0 }];
                out.data[(i * out.row + j * out.col) * t + lane] = (0..k).fold(T::ZERO, |sum, l| sum + product(l));
            }
        }
    }
}

/// Computes V vectors of lanes, from lane `first` on, of elements (i, j), …, (i, j + Q − 1).
#[inline(always)]
fn block<T: Element, S: pulp::Simd, const A: bool, const B: bool, const Q: usize, const V: usize>(
    simd: S,
    factors: Factors<'_, T>,
    [i, j]: [usize; 2],
    first: usize,
    out: &mut ResultMatrix<'_, T>,
) {
    let Factors { size: [_, k, _], t, a, b } = factors;
    let mut sums = [[T::splat(simd, T::ZERO); V]; Q];
    for l in 0..k {
        let x = load::<T, S, A, V>(simd, a.element(i, l, t), first);
        for (q, sums) in sums.iter_mut().enumerate() {
            let y = load::<T, S, B, V>(simd, b.element(l, j + q, t), first);
            for v in 0..V {
                sums[v] = T::vector_mul_add(simd, x[v], y[v], sums[v]);
            }
        }
    }
    for (q, sums) in sums.iter().enumerate() {
        let lanes = &mut out.data[(i * out.row + (j + q) * out.col) * t..][..t];
        T::vectors_mut::<S>(&mut lanes[first..]).0[..V].copy_from_slice(sums);
    }
}

/// Loads V vectors of the lanes of an element, or broadcasts its single value.
#[inline(always)]
fn load<T: Element, S: pulp::Simd, const LANES: bool, const V: usize>(
    simd: S,
    element: &[T],
    first: usize,
) -> [T::Vector<S>; V] {
    if LANES {
        let vectors = &T::vectors::<S>(&element[first..]).0[..V];
        std::array::from_fn(
            #[inline(always)]
            |v| vectors[v],
        )
    } else {
        [T::splat(simd, element[0]); V]
    }
}
