//! Functions of two numbers, and choices between two.

use super::super::element::Element;
use super::super::math;
use super::super::simd::Simd;
use super::unary::power_of;
use super::{Operand, zip};
use crate::graph::{BinaryOp, CompareOp, LogicOp};

/// out = a ∘ b.
pub(crate) fn binary<T: Element>(simd: Simd, op: BinaryOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    macro_rules! both {
        (|$fma:pat_param, $a:ident, $b:ident| $value:expr) => {
            zip(
                simd,
                a,
                b,
                out,
                #[inline(always)]
                |$fma, $a: T, $b: T| $value,
            )
        };
    }
    match op {
        BinaryOp::Add => both!(|_, a, b| a + b),
        BinaryOp::Sub => both!(|_, a, b| a - b),
        BinaryOp::Mul => both!(|_, a, b| a * b),
        BinaryOp::Div => both!(|_, a, b| a / b),
        BinaryOp::Rem => both!(|_, a, b| floored_remainder(a, b)),
        BinaryOp::Pow => match (a, b) {
            (Operand::Slice(a), Operand::Splat(power)) => power_of(simd, power.to_f64(), a, out),
            _ => both!(|fma, a, b| math::pow(fma, a, b)),
        },
        BinaryOp::Max => both!(|_, a, b| a.larger(b)),
        BinaryOp::Min => both!(|_, a, b| a.smaller(b)),
        BinaryOp::Atan2 => both!(|_, a, b| a.atan2(b)),
    }
}

/// out = 1 where a ∘ b, else 0.
pub(crate) fn compare<T: Element>(simd: Simd, op: CompareOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    match op {
        CompareOp::Equal => zip(simd, a, b, out, |_, a, b| T::mask(a == b)),
        CompareOp::NotEqual => zip(simd, a, b, out, |_, a, b| T::mask(a != b)),
        CompareOp::Greater => zip(simd, a, b, out, |_, a, b| T::mask(a > b)),
        CompareOp::GreaterEqual => zip(simd, a, b, out, |_, a, b| T::mask(a >= b)),
        CompareOp::Less => zip(simd, a, b, out, |_, a, b| T::mask(a < b)),
        CompareOp::LessEqual => zip(simd, a, b, out, |_, a, b| T::mask(a <= b)),
    }
}

/// out = a ∘ b of masks.
pub(crate) fn logic<T: Element>(simd: Simd, op: LogicOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    match op {
        LogicOp::And => zip(simd, a, b, out, |_, a, b| T::mask(a.is_true() & b.is_true())),
        LogicOp::Or => zip(simd, a, b, out, |_, a, b| T::mask(a.is_true() | b.is_true())),
        LogicOp::Xor => zip(simd, a, b, out, |_, a, b| T::mask(a.is_true() ^ b.is_true())),
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
                        // Both are read, so that there is no branch.
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

/// a − b ⌊a/b⌋, exactly.
#[inline(always)]
fn floored_remainder<T: Element>(a: T, b: T) -> T {
    let rest = a.truncated_remainder(b);
    if rest != T::ZERO && (rest < T::ZERO) != (b < T::ZERO) { rest + b } else { rest }
}
