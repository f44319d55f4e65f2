//! Element-wise functions: out\[i] = f(a\[i], b\[i], …).
//!
//! Masks are represented by ones and zeros.

mod binary;
mod block;
mod number;
#[cfg(test)]
mod tests;
mod unary;

pub(crate) use binary::{binary, compare, logic, select_where};
pub(crate) use block::{LANES, Step, run_steps};
pub(crate) use number::run_numbers;
pub(crate) use unary::unary;

use super::element::Element;
use super::simd::{Fma, Simd};
use crate::graph::{BinaryOp, CompareOp, LogicOp, UnaryOp};

/// An element-wise function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    /// The identity.
    Copy,
    /// f(x).
    Unary(UnaryOp),
    /// f(a, b).
    Binary(BinaryOp),
    /// A comparison.
    Compare(CompareOp),
    /// A logical operation.
    Logic(LogicOp),
    /// `mask ? a : b`.
    Where,
}

impl Function {
    /// Returns the name of the function in the description of a program.
    pub(crate) fn name(&self) -> String {
        let name = match self {
            Self::Copy => "copy".into(),
            Self::Unary(op) => format!("{op:?}"),
            Self::Binary(op) => format!("{op:?}"),
            Self::Compare(op) => format!("{op:?}"),
            Self::Logic(op) => format!("{op:?}"),
            Self::Where => "where".into(),
        };
        name.split([' ', '(']).next().unwrap_or_default().to_lowercase()
    }
}

/// An operand: one number for each element of the result, or a single number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand<'a, T> {
    /// One number for each element.
    Slice(&'a [T]),
    /// A single number for all elements.
    Splat(T),
}

/// The block length of [`map_long`].
const BLOCK: usize = 8;

#[inline(always)]
fn map<T: Element>(simd: Simd, x: &[T], out: &mut [T], f: impl Fn(Fma, T) -> T) {
    assert_eq!(x.len(), out.len());
    simd.run(
        #[inline(always)]
        move |fma| {
            for (out, x) in out.iter_mut().zip(x) {
                *out = f(fma, *x);
            }
        },
    );
}

/// Applies a long function. A remainder loop would cost more than the vectorized loop, so the remaining elements are
/// padded to a block, which runs through the vectorized loop.
#[inline(always)]
fn map_long<T: Element>(simd: Simd, x: &[T], out: &mut [T], f: impl Fn(Fma, T) -> T) {
    assert_eq!(x.len(), out.len());
    simd.run(
        #[inline(always)]
        move |fma| {
            let whole = x.len() - x.len() % BLOCK;
            let (x, x_rest) = x.split_at(whole);
            let (out, out_rest) = out.split_at_mut(whole);
            let (mut padded, mut result) = ([T::ONE; BLOCK], [T::ZERO; BLOCK]);
            for (padded, x) in padded.iter_mut().zip(x_rest) {
                *padded = *x;
            }
            let (mut from, mut to): (&[T], &mut [T]) = (x, out);
            let mut more = !x_rest.is_empty();
            loop {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = f(fma, *from);
                }
                if !more {
                    break;
                }
                more = false;
                (from, to) = (&padded, &mut result);
            }
            for (out, result) in out_rest.iter_mut().zip(result) {
                *out = result;
            }
        },
    );
}

#[inline(always)]
fn zip<T: Element>(simd: Simd, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T], f: impl Fn(Fma, T, T) -> T) {
    match (a, b) {
        (Operand::Slice(a), Operand::Slice(b)) => {
            assert!(a.len() == out.len() && b.len() == out.len());
            simd.run(
                #[inline(always)]
                move |fma| {
                    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                        *out = f(fma, *a, *b);
                    }
                },
            );
        }
        (Operand::Slice(a), Operand::Splat(b)) => map(
            simd,
            a,
            out,
            #[inline(always)]
            move |fma, a| f(fma, a, b),
        ),
        (Operand::Splat(a), Operand::Slice(b)) => map(
            simd,
            b,
            out,
            #[inline(always)]
            move |fma, b| f(fma, a, b),
        ),
        (Operand::Splat(a), Operand::Splat(b)) => {
            let value = simd.run(
                #[inline(always)]
                move |fma| f(fma, a, b),
            );
            out.fill(value);
        }
    }
}
