//! Functions of two numbers, and choices between two numbers.

use super::super::element::Element;
use super::super::math;
use super::super::simd::{Fma, Simd};
use super::unary::power_of;
use super::{Operand, zip};
use crate::graph::{BinaryOp, CompareOp, LogicOp};

/// out = a ∘ b.
pub(crate) fn binary<T: Element>(simd: Simd, op: BinaryOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    if let (BinaryOp::Pow, Operand::Slice(a), Operand::Splat(power)) = (op, a, b) {
        return power_of(simd, power.to_f64(), a, out);
    }
    with_binary(op, Operands { simd, a, b, out });
}

/// out = 1 where the comparison holds, 0 elsewhere.
pub(crate) fn compare<T: Element>(simd: Simd, op: CompareOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    with_compare(op, Operands { simd, a, b, out });
}

/// out = a ∘ b for masks.
pub(crate) fn logic<T: Element>(simd: Simd, op: LogicOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    with_logic(op, Operands { simd, a, b, out });
}

/// The arguments of a function of two numbers.
pub(super) trait ApplyPairs<T: Element> {
    /// Applies the function to the arguments.
    fn pairs(self, f: impl Fn(Fma, T, T) -> T);
}

struct Operands<'a, T> {
    simd: Simd,
    a: Operand<'a, T>,
    b: Operand<'a, T>,
    out: &'a mut [T],
}

impl<T: Element> ApplyPairs<T> for Operands<'_, T> {
    #[inline(always)]
    fn pairs(self, f: impl Fn(Fma, T, T) -> T) {
        zip(self.simd, self.a, self.b, self.out, f);
    }
}

/// Applies the function of `op`.
#[inline(always)]
pub(super) fn with_binary<T: Element>(op: BinaryOp, apply: impl ApplyPairs<T>) {
    macro_rules! pairs {
        (|$fma:pat_param, $a:ident, $b:ident| $value:expr) => {
            apply.pairs(
                #[inline(always)]
                |$fma, $a: T, $b: T| $value,
            )
        };
    }
    match op {
        BinaryOp::Add => pairs!(|_, a, b| a + b),
        BinaryOp::Sub => pairs!(|_, a, b| a - b),
        BinaryOp::Mul => pairs!(|_, a, b| a * b),
        BinaryOp::Div => pairs!(|_, a, b| a / b),
        BinaryOp::Rem => pairs!(|_, a, b| floored_remainder(a, b)),
        BinaryOp::Pow => pairs!(|fma, a, b| math::pow(fma, a, b)),
        // For NaN the result is the first operand, as in `a < b ? b : a`.
        BinaryOp::Max => pairs!(|_, a, b| if a < b { b } else { a }),
        BinaryOp::Min => pairs!(|_, a, b| if b < a { b } else { a }),
        BinaryOp::Atan2 => pairs!(|_, a, b| a.atan2(b)),
    }
}

/// Applies the comparison of `op`.
#[inline(always)]
pub(super) fn with_compare<T: Element>(op: CompareOp, apply: impl ApplyPairs<T>) {
    macro_rules! pairs {
        (|$a:ident, $b:ident| $value:expr) => {
            apply.pairs(
                #[inline(always)]
                |_, $a: T, $b: T| T::mask($value),
            )
        };
    }
    match op {
        CompareOp::Equal => pairs!(|a, b| a == b),
        CompareOp::NotEqual => pairs!(|a, b| a != b),
        CompareOp::Greater => pairs!(|a, b| a > b),
        CompareOp::GreaterEqual => pairs!(|a, b| a >= b),
        CompareOp::Less => pairs!(|a, b| a < b),
        CompareOp::LessEqual => pairs!(|a, b| a <= b),
    }
}

/// Applies the logical operation of `op`.
#[inline(always)]
pub(super) fn with_logic<T: Element>(op: LogicOp, apply: impl ApplyPairs<T>) {
    macro_rules! pairs {
        (|$a:ident, $b:ident| $value:expr) => {
            apply.pairs(
                #[inline(always)]
                |_, $a: T, $b: T| T::mask($value),
            )
        };
    }
    match op {
        LogicOp::And => pairs!(|a, b| a.is_true() & b.is_true()),
        LogicOp::Or => pairs!(|a, b| a.is_true() | b.is_true()),
        LogicOp::Xor => pairs!(|a, b| a.is_true() ^ b.is_true()),
    }
}

/// out = mask ? a : b.
pub(crate) fn select_where<T: Element>(
    simd: Simd,
    mask: Operand<'_, T>,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    out: &mut [T],
) {
    match (mask, a, b) {
        (Operand::Splat(mask), ..) => match if mask.is_true() { a } else { b } {
            Operand::Slice(from) => out.copy_from_slice(from),
            Operand::Splat(value) => out.fill(value),
        },
        (Operand::Slice(mask), Operand::Slice(a), Operand::Slice(b)) => {
            assert!(mask.len() == out.len() && a.len() == out.len() && b.len() == out.len());
            simd.run(
                #[inline(always)]
                move |_| {
                    for (((out, mask), a), b) in out.iter_mut().zip(mask).zip(a).zip(b) {
                        // Both operands are read unconditionally, which avoids a branch.
                        let (a, b) = (*a, *b);
                        *out = if mask.is_true() { a } else { b };
                    }
                },
            );
        }
        (mask, a, Operand::Splat(b)) => zip(simd, mask, a, out, move |_, mask, a| if mask.is_true() { a } else { b }),
        (mask, Operand::Splat(a), b) => zip(simd, mask, b, out, move |_, mask, b| if mask.is_true() { a } else { b }),
    }
}

/// Returns a − b ⌊a/b⌋ without rounding error.
#[inline(always)]
fn floored_remainder<T: Element>(a: T, b: T) -> T {
    let rest = a.truncated_remainder(b);
    if rest != T::ZERO && (rest < T::ZERO) != (b < T::ZERO) { rest + b } else { rest }
}
