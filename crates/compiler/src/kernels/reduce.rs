//! Sums, other reductions, and updates of accumulators.
//!
//! A long sum uses several accumulators, which are added in pairs, and an `f64` for the sums of blocks. The rounding
//! error grows with the length of a block, not with the length of the sum.

use super::element::{Element, Number};
use super::simd::{Fma, Simd};
use crate::graph::ReduceOp;

/// The number of accumulators of a reduction.
const LANES: usize = 32;
/// The number of accumulator vectors of a sum.
const UNROLLED: usize = 4;
/// The number of values whose sum is computed in the precision of the elements.
const BLOCK: usize = 4096;
/// The maximum length for which scalar code is faster than a call of vector code.
const SCALAR_LENGTH: usize = 4;

/// Returns Σ x.
pub(crate) fn sum<T: Element>(simd: Simd, x: &[T]) -> T {
    if x.len() <= SCALAR_LENGTH {
        return x.iter().fold(T::ZERO, |sum, x| sum + *x);
    }
    if x.len() <= BLOCK {
        return simd.run_vectors(Sum(x));
    }
    T::from_f64(x.chunks(BLOCK).map(|block| sum(simd, block).to_f64()).sum())
}

/// Reduces all numbers. Returns the neutral element for an empty slice.
pub(crate) fn reduce<T: Element>(simd: Simd, op: ReduceOp, x: &[T]) -> T {
    match op {
        ReduceOp::Sum => sum(simd, x),
        ReduceOp::Prod => simd.run(
            #[inline(always)]
            move |_| fold(x, T::ONE, |a, b| a * b),
        ),
        ReduceOp::Max => simd.run(
            #[inline(always)]
            move |_| fold(x, -T::INFINITY, |a, b| a.larger(b)),
        ),
        ReduceOp::Min => simd.run(
            #[inline(always)]
            move |_| fold(x, T::INFINITY, |a, b| a.smaller(b)),
        ),
    }
}

/// Returns Σ a b.
pub(crate) fn dot<T: Element>(simd: Simd, a: &[T], b: &[T]) -> T {
    assert_eq!(a.len(), b.len());
    if a.len() <= SCALAR_LENGTH {
        return a.iter().zip(b).fold(T::ZERO, |sum, (a, b)| sum + *a * *b);
    }
    if a.len() <= BLOCK {
        return simd.run_vectors(Dot(a, b));
    }
    T::from_f64(a.chunks(BLOCK).zip(b.chunks(BLOCK)).map(|(a, b)| dot(simd, a, b).to_f64()).sum())
}

/// acc = acc ∘ x.
pub(crate) fn combine<T: Element>(simd: Simd, op: ReduceOp, x: &[T], acc: &mut [T]) {
    match op {
        ReduceOp::Sum => update(simd, x, acc, |_, acc, x| acc + x),
        ReduceOp::Prod => update(simd, x, acc, |_, acc, x| acc * x),
        ReduceOp::Max => update(simd, x, acc, |_, acc, x| acc.larger(x)),
        ReduceOp::Min => update(simd, x, acc, |_, acc, x| acc.smaller(x)),
    }
}

/// out = x, rounded to T.
pub(crate) fn load_f64<T: Element>(simd: Simd, x: &[f64], out: &mut [T]) {
    update(simd, x, out, |_, _, x| T::from_f64(x));
}

/// acc += scale · x in `f64`.
pub(crate) fn add_to_f64<T: Element>(simd: Simd, scale: f64, x: &[T], acc: &mut [f64]) {
    update(simd, x, acc, move |fma, acc, x| fma.mul_add(scale, x.to_f64(), acc));
}

#[inline(always)]
fn update<S: Number, T: Element>(simd: Simd, x: &[S], acc: &mut [T], f: impl Fn(Fma, T, S) -> T) {
    assert_eq!(x.len(), acc.len());
    simd.run(
        #[inline(always)]
        move |fma| {
            for (acc, x) in acc.iter_mut().zip(x) {
                *acc = f(fma, *acc, *x);
            }
        },
    );
}

#[inline(always)]
fn fold<T: Element>(x: &[T], neutral: T, f: impl Fn(T, T) -> T) -> T {
    let (chunks, rest) = x.as_chunks::<LANES>();
    let mut lanes = [neutral; LANES];
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = f(*lane, *x);
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = f(*lane, *x);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = f(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}

struct Sum<'a, T>(&'a [T]);

impl<T: Element> pulp::WithSimd for Sum<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> T {
        let (x, rest) = T::vectors::<S>(self.0);
        let (groups, single) = x.as_chunks::<UNROLLED>();
        let mut sums = [T::splat(simd, T::ZERO); UNROLLED];
        for x in groups {
            for r in 0..UNROLLED {
                sums[r] = T::vector_add(simd, sums[r], x[r]);
            }
        }
        for x in single {
            sums[0] = T::vector_add(simd, sums[0], *x);
        }
        rest.iter().fold(
            total(simd, sums),
            #[inline(always)]
            |sum, x| sum + *x,
        )
    }
}

struct Dot<'a, T>(&'a [T], &'a [T]);

impl<T: Element> pulp::WithSimd for Dot<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) -> T {
        let ((a, a_rest), (b, b_rest)) = (T::vectors::<S>(self.0), T::vectors::<S>(self.1));
        let ((a, a_single), (b, b_single)) = (a.as_chunks::<UNROLLED>(), b.as_chunks::<UNROLLED>());
        let mut sums = [T::splat(simd, T::ZERO); UNROLLED];
        for (a, b) in a.iter().zip(b) {
            for r in 0..UNROLLED {
                sums[r] = T::vector_mul_add(simd, a[r], b[r], sums[r]);
            }
        }
        for (a, b) in a_single.iter().zip(b_single) {
            sums[0] = T::vector_mul_add(simd, *a, *b, sums[0]);
        }
        a_rest.iter().zip(b_rest).fold(
            total(simd, sums),
            #[inline(always)]
            |sum, (a, b)| sum + *a * *b,
        )
    }
}

#[inline(always)]
fn total<T: Element, S: pulp::Simd>(simd: S, x: [T::Vector<S>; UNROLLED]) -> T {
    T::total(simd, T::vector_add(simd, T::vector_add(simd, x[0], x[2]), T::vector_add(simd, x[1], x[3])))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LENGTHS, assert_close, numbers};
    use super::*;

    fn reductions_work<T: Element>(simd: Simd) {
        for length in LENGTHS {
            let (x, y) = (numbers::<T>(1, length), numbers::<T>(2, length));
            let wide: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
            let size = 3.0 * length as f64;
            let total: f64 = wide.iter().sum();
            assert_close(&[sum(simd, &x), reduce(simd, ReduceOp::Sum, &x)], &[total; 2], size, "sum");
            let product: f64 = wide.iter().zip(&y).map(|(x, y)| x * y.to_f64()).sum();
            assert_close(&[dot(simd, &x, &y)], &[product], 3.0 * size, "dot");
            let largest = wide.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let smallest = wide.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(reduce(simd, ReduceOp::Max, &x).to_f64().total_cmp(&largest).is_eq());
            assert!(reduce(simd, ReduceOp::Min, &x).to_f64().total_cmp(&smallest).is_eq());
            let near_one: Vec<T> = x.iter().map(|x| T::ONE + *x * T::from_f64(0.01)).collect();
            let product: f64 = near_one.iter().map(|x| x.to_f64()).product();
            assert_close(&[reduce(simd, ReduceOp::Prod, &near_one)], &[product], size * product, "product");
        }
    }

    #[test]
    fn reductions() {
        for simd in Simd::all() {
            reductions_work::<f32>(simd);
            reductions_work::<f64>(simd);
        }
        let mut x = vec![1.0_f32; 100];
        x[70] = f32::NAN;
        assert!(reduce(Simd::new(), ReduceOp::Max, &x).is_nan() && reduce(Simd::new(), ReduceOp::Min, &x).is_nan());
    }

    #[test]
    fn long_sums_are_accurate() {
        let simd = Simd::new();
        let x: Vec<f32> = numbers::<f32>(1, 100_003).iter().map(|x| x.abs()).collect();
        let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
        assert!((f64::from(sum(simd, &x)) / exact - 1.0).abs() < 2e-7);
        let squares: f64 = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        assert!((f64::from(dot(simd, &x, &x)) / squares - 1.0).abs() < 2e-7);
    }

    type Pair = fn(f64, f64) -> f64;

    fn updates_work<T: Element>(simd: Simd) {
        for length in LENGTHS {
            let (x, before) = (numbers::<T>(1, length), numbers::<T>(2, length));
            let expected = |f: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
                before.iter().zip(&x).map(|(acc, x)| f(acc.to_f64(), x.to_f64())).collect()
            };
            for op in ReduceOp::ALL {
                let f: Pair = match op {
                    ReduceOp::Sum => |a, b| a + b,
                    ReduceOp::Prod => |a, b| a * b,
                    ReduceOp::Max => f64::max,
                    ReduceOp::Min => f64::min,
                };
                let mut acc = before.clone();
                combine(simd, *op, &x, &mut acc);
                assert_close(&acc, &expected(&f), 9.0, "combine");
            }
            let mut wide: Vec<f64> = before.iter().map(|x| x.to_f64()).collect();
            add_to_f64(simd, -0.3, &x, &mut wide);
            assert_close(&wide, &expected(&|acc, x| acc - 0.3 * x), 6.0, "add_to_f64");
            let mut rounded = vec![T::NAN; length];
            load_f64(simd, &wide, &mut rounded);
            assert_close(&rounded, &wide, 4.0, "load_f64");
        }
    }

    #[test]
    fn updates() {
        for simd in Simd::all() {
            updates_work::<f32>(simd);
            updates_work::<f64>(simd);
        }
    }
}
