//! Functions of each number: out\[i] = f(a\[i], b\[i], …).
//!
//! Masks are ones and zeros.

use super::element::Element;
use super::math;
use super::simd::{Fma, Simd};
use crate::graph::{BinaryOp, CompareOp, LogicOp, UnaryOp};

/// Numbers one for one with those of the result, or one for all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand<'a, T> {
    /// One for each.
    Slice(&'a [T]),
    /// The same for all.
    Splat(T),
}

/// How many numbers [`map_long`] takes at least.
const BLOCK: usize = 8;

/// out = f(x).
pub(crate) fn unary<T: Element>(simd: Simd, op: UnaryOp, x: &[T], out: &mut [T]) {
    macro_rules! short {
        (|$x:ident| $value:expr) => {
            map(
                simd,
                x,
                out,
                #[inline(always)]
                |_, $x: T| $value,
            )
        };
    }
    macro_rules! long {
        ($function:path) => {
            map_long(
                simd,
                x,
                out,
                #[inline(always)]
                |fma, x: T| $function(fma, x),
            )
        };
    }
    match op {
        UnaryOp::Detach => out.copy_from_slice(x),
        UnaryOp::Neg => short!(|x| -x),
        UnaryOp::Affine { scale, shift } => {
            let (scale, shift) = (T::from_f64(scale.0), T::from_f64(shift.0));
            map(
                simd,
                x,
                out,
                #[inline(always)]
                |fma, x| fma.mul_add(scale, x, shift),
            );
        }
        UnaryOp::Square => short!(|x| x * x),
        UnaryOp::Power(power) => power_of(simd, power.0, x, out),
        UnaryOp::Recip => short!(|x| T::ONE / x),
        UnaryOp::Sqrt => short!(|x| x.sqrt()),
        UnaryOp::Abs => short!(|x| x.abs()),
        UnaryOp::Sign => short!(|x| if x > T::ZERO {
            T::ONE
        } else if x < T::ZERO {
            -T::ONE
        } else {
            x
        }),
        UnaryOp::Relu => short!(|x| if x < T::ZERO { T::ZERO } else { x }),
        UnaryOp::Exp => long!(math::exp),
        UnaryOp::Expm1 => long!(math::expm1),
        UnaryOp::Log => long!(math::log),
        UnaryOp::Log1p => long!(math::log1p),
        UnaryOp::Sigmoid => long!(math::sigmoid),
        UnaryOp::LogSigmoid => long!(math::log_sigmoid),
        UnaryOp::Erf => long!(math::erf),
        UnaryOp::Tanh => long!(math::tanh),
        UnaryOp::Sin => each(x, out, T::sin),
        UnaryOp::Cos => each(x, out, T::cos),
        UnaryOp::Tan => each(x, out, T::tan),
        UnaryOp::Asin => each(x, out, T::asin),
        UnaryOp::Acos => each(x, out, T::acos),
        UnaryOp::Atan => each(x, out, T::atan),
        UnaryOp::Sinh => each(x, out, T::sinh),
        UnaryOp::Cosh => each(x, out, T::cosh),
        UnaryOp::Asinh => each(x, out, T::asinh),
        UnaryOp::Acosh => each(x, out, T::acosh),
        UnaryOp::Atanh => each(x, out, T::atanh),
        UnaryOp::Floor => short!(|x| x.floor()),
        UnaryOp::Ceil => short!(|x| x.ceil()),
        UnaryOp::Round => short!(|x| x.round()),
        UnaryOp::Trunc => short!(|x| x.trunc()),
        UnaryOp::IsNan => short!(|x| T::mask(x.is_not_a_number())),
        UnaryOp::IsInfinite => short!(|x| T::mask(x.abs() == T::INFINITY)),
        UnaryOp::Not => short!(|x| T::mask(!x.is_true())),
    }
}

/// out = a ∘ b.
pub(crate) fn binary<T: Element>(simd: Simd, op: BinaryOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    macro_rules! short {
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
        BinaryOp::Add => short!(|_, a, b| a + b),
        BinaryOp::Sub => short!(|_, a, b| a - b),
        BinaryOp::Mul => short!(|_, a, b| a * b),
        BinaryOp::Div => short!(|_, a, b| a / b),
        BinaryOp::Rem => short!(|_, a, b| floored_remainder(a, b)),
        BinaryOp::Pow => match b {
            Operand::Splat(power) => match a {
                Operand::Slice(a) => power_of(simd, power.to_f64(), a, out),
                Operand::Splat(_) => short!(|fma, a, b| math::pow(fma, a, b)),
            },
            Operand::Slice(_) => short!(|fma, a, b| math::pow(fma, a, b)),
        },
        BinaryOp::Max => short!(|_, a, b| a.larger(b)),
        BinaryOp::Min => short!(|_, a, b| a.smaller(b)),
        BinaryOp::Atan2 => short!(|_, a, b| a.atan2(b)),
    }
}

/// out = 1 where a ∘ b, else 0.
pub(crate) fn compare<T: Element>(simd: Simd, op: CompareOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    match op {
        CompareOp::Equal => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a == b),
        ),
        CompareOp::NotEqual => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a != b),
        ),
        CompareOp::Greater => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a > b),
        ),
        CompareOp::GreaterEqual => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a >= b),
        ),
        CompareOp::Less => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a < b),
        ),
        CompareOp::LessEqual => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a <= b),
        ),
    }
}

/// out = a ∘ b of masks.
pub(crate) fn logic<T: Element>(simd: Simd, op: LogicOp, a: Operand<'_, T>, b: Operand<'_, T>, out: &mut [T]) {
    match op {
        LogicOp::And => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a.is_true() & b.is_true()),
        ),
        LogicOp::Or => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a.is_true() | b.is_true()),
        ),
        LogicOp::Xor => zip(
            simd,
            a,
            b,
            out,
            #[inline(always)]
            |_, a, b| T::mask(a.is_true() ^ b.is_true()),
        ),
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
    let mask = match mask {
        Operand::Splat(mask) => return fill(if mask.is_true() { a } else { b }, out),
        Operand::Slice(mask) => mask,
    };
    // Each number is read whether it is taken or not, so that the loop has no branch.
    macro_rules! select {
        ($from:expr, |$a:pat_param, $b:pat_param| ($va:expr, $vb:expr)) => {
            simd.run(
                #[inline(always)]
                |_| {
                    for ((out, mask), ($a, $b)) in out.iter_mut().zip(mask).zip($from) {
                        let (a, b) = ($va, $vb);
                        *out = if mask.is_true() { a } else { b };
                    }
                },
            )
        };
    }
    match (a, b) {
        (Operand::Slice(a), Operand::Slice(b)) => select!(a.iter().zip(b), |a, b| (*a, *b)),
        (Operand::Slice(a), Operand::Splat(b)) => select!(a.iter().zip(std::iter::repeat(b)), |a, b| (*a, b)),
        (Operand::Splat(a), Operand::Slice(b)) => select!(std::iter::repeat(a).zip(b), |a, b| (a, *b)),
        (Operand::Splat(a), Operand::Splat(b)) => select!(std::iter::repeat((a, b)), |a, b| (a, b)),
    }
}

fn fill<T: Element>(from: Operand<'_, T>, out: &mut [T]) {
    match from {
        Operand::Slice(from) => out.copy_from_slice(from),
        Operand::Splat(value) => out.fill(value),
    }
}

/// out = x^power: the usual powers without a logarithm.
fn power_of<T: Element>(simd: Simd, power: f64, x: &[T], out: &mut [T]) {
    const USUAL: [f64; 7] = [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5];
    match USUAL.iter().position(|usual| usual.to_bits() == power.to_bits()) {
        Some(0) => out.fill(T::ONE),
        Some(1) => out.copy_from_slice(x),
        Some(2) => map(
            simd,
            x,
            out,
            #[inline(always)]
            |_, x| x * x,
        ),
        Some(3) => map(
            simd,
            x,
            out,
            #[inline(always)]
            |_, x| x * x * x,
        ),
        Some(4) => map(
            simd,
            x,
            out,
            #[inline(always)]
            |_, x| T::ONE / x,
        ),
        Some(5) => map(
            simd,
            x,
            out,
            #[inline(always)]
            |_, x| T::ONE / (x * x),
        ),
        Some(6) => map(
            simd,
            x,
            out,
            #[inline(always)]
            |_, x| x.sqrt(),
        ),
        _ => {
            let power = T::from_f64(power);
            map_long(
                simd,
                x,
                out,
                #[inline(always)]
                |fma, x| math::pow(fma, x, power),
            );
        }
    }
}

/// a − b ⌊a/b⌋, exactly.
#[inline(always)]
fn floored_remainder<T: Element>(a: T, b: T) -> T {
    let rest = a.truncated_remainder(b);
    if rest != T::ZERO && (rest < T::ZERO) != (b < T::ZERO) { rest + b } else { rest }
}

fn each<T: Element>(x: &[T], out: &mut [T], f: impl Fn(T) -> T) {
    assert_eq!(x.len(), out.len());
    for (out, x) in out.iter_mut().zip(x) {
        *out = f(*x);
    }
}

#[inline(always)]
fn map<T: Element>(simd: Simd, x: &[T], out: &mut [T], f: impl Fn(Fma, T) -> T) {
    assert_eq!(x.len(), out.len());
    simd.run(
        #[inline(always)]
        |fma| {
            for (out, x) in out.iter_mut().zip(x) {
                *out = f(fma, *x);
            }
        },
    );
}

/// [`map`] of a function so long that numbers left over from whole vectors would cost more than the vectors: the rest is
/// filled up to a block, which goes through the same loop.
#[inline(always)]
fn map_long<T: Element>(simd: Simd, x: &[T], out: &mut [T], f: impl Fn(Fma, T) -> T) {
    assert_eq!(x.len(), out.len());
    simd.run(
        #[inline(always)]
        |fma| {
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
                |fma| {
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
            |fma, a| f(fma, a, b),
        ),
        (Operand::Splat(a), Operand::Slice(b)) => map(
            simd,
            b,
            out,
            #[inline(always)]
            |fma, b| f(fma, a, b),
        ),
        (Operand::Splat(a), Operand::Splat(b)) => {
            let value = simd.run(
                #[inline(always)]
                |fma| f(fma, a, b),
            );
            out.fill(value);
        }
    }
}
