//! Sums and other reductions, and sums into an accumulator.
//!
//! A long sum has many accumulators, added in pairs, and a `f64` for the sums of blocks: the error grows with the length of a
//! block, not with that of the sum.

use super::element::{Element, Number};
use super::simd::{Fma, Simd};
use crate::graph::ReduceOp;

/// Accumulators of a reduction.
const LANES: usize = 32;
/// Numbers whose sum is taken before it is added to the total.
const BLOCK: usize = 4096;

/// Σ x.
pub(crate) fn sum<T: Element>(simd: Simd, x: &[T]) -> T {
    if x.len() <= BLOCK {
        return simd.run(
            #[inline(always)]
            |_| {
                fold(
                    x,
                    T::ZERO,
                    #[inline(always)]
                    |a, b| a + b,
                )
            },
        );
    }
    T::from_f64(x.chunks(BLOCK).map(|block| sum(simd, block).to_f64()).sum())
}

/// A reduction of all numbers; of none the neutral number.
pub(crate) fn reduce<T: Element>(simd: Simd, op: ReduceOp, x: &[T]) -> T {
    match op {
        ReduceOp::Sum => sum(simd, x),
        ReduceOp::Prod => simd.run(
            #[inline(always)]
            |_| {
                fold(
                    x,
                    T::ONE,
                    #[inline(always)]
                    |a, b| a * b,
                )
            },
        ),
        ReduceOp::Max => simd.run(
            #[inline(always)]
            |_| {
                fold(
                    x,
                    -T::INFINITY,
                    #[inline(always)]
                    |a, b| a.larger(b),
                )
            },
        ),
        ReduceOp::Min => simd.run(
            #[inline(always)]
            |_| {
                fold(
                    x,
                    T::INFINITY,
                    #[inline(always)]
                    |a, b| a.smaller(b),
                )
            },
        ),
    }
}

/// Σ a b.
pub(crate) fn dot<T: Element>(simd: Simd, a: &[T], b: &[T]) -> T {
    assert_eq!(a.len(), b.len());
    if a.len() <= BLOCK {
        return simd.run(
            #[inline(always)]
            |fma| short_dot(fma, a, b),
        );
    }
    T::from_f64(a.chunks(BLOCK).zip(b.chunks(BLOCK)).map(|(a, b)| dot(simd, a, b).to_f64()).sum())
}

/// acc = acc ∘ x.
pub(crate) fn combine<T: Element>(simd: Simd, op: ReduceOp, x: &[T], acc: &mut [T]) {
    match op {
        ReduceOp::Sum => update(
            simd,
            x,
            acc,
            #[inline(always)]
            |_, acc, x| acc + x,
        ),
        ReduceOp::Prod => update(
            simd,
            x,
            acc,
            #[inline(always)]
            |_, acc, x| acc * x,
        ),
        ReduceOp::Max => update(
            simd,
            x,
            acc,
            #[inline(always)]
            |_, acc, x| acc.larger(x),
        ),
        ReduceOp::Min => update(
            simd,
            x,
            acc,
            #[inline(always)]
            |_, acc, x| acc.smaller(x),
        ),
    }
}

/// acc += scale x.
pub(crate) fn add_scaled<T: Element>(simd: Simd, scale: T, x: &[T], acc: &mut [T]) {
    update(
        simd,
        x,
        acc,
        #[inline(always)]
        |fma, acc, x| fma.mul_add(scale, x, acc),
    );
}

/// out = x, rounded to T.
pub(crate) fn load_f64<T: Element>(simd: Simd, x: &[f64], out: &mut [T]) {
    update(
        simd,
        x,
        out,
        #[inline(always)]
        |_, _, x| T::from_f64(x),
    );
}

/// acc += scale x in `f64`.
pub(crate) fn add_to_f64<T: Element>(simd: Simd, scale: f64, x: &[T], acc: &mut [f64]) {
    update(
        simd,
        x,
        acc,
        #[inline(always)]
        |fma, acc, x| fma.mul_add(scale, x.to_f64(), acc),
    );
}

#[inline(always)]
fn update<S: Number, T: Element>(simd: Simd, x: &[S], acc: &mut [T], f: impl Fn(Fma, T, S) -> T) {
    assert_eq!(x.len(), acc.len());
    simd.run(
        #[inline(always)]
        |fma| {
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
    join(lanes, f)
}

/// Σ a b of not too many numbers.
#[inline(always)]
pub(super) fn short_dot<T: Element>(fma: Fma, a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [T::ZERO; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            lanes[i] = fma.mul_add(a[i], b[i], lanes[i]);
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane = fma.mul_add(*a, *b, *lane);
    }
    join(
        lanes,
        #[inline(always)]
        |a, b| a + b,
    )
}

/// All accumulators in one, in pairs.
#[inline(always)]
pub(super) fn join<T: Element, const N: usize>(mut lanes: [T; N], f: impl Fn(T, T) -> T) -> T {
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = f(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}
