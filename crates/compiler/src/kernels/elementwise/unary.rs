//! Functions of one number.

use super::super::element::Element;
use super::super::math;
use super::super::simd::Simd;
use super::{map, map_long};
use crate::graph::UnaryOp;

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
        UnaryOp::Affine { scale, shift } => affine(simd, T::from_f64(scale.0), T::from_f64(shift.0), x, out),
        UnaryOp::Square => short!(|x| x * x),
        UnaryOp::Power(power) => power_of(simd, power.0, x, out),
        UnaryOp::Recip => short!(|x| T::ONE / x),
        UnaryOp::Sqrt => short!(|x| x.sqrt()),
        UnaryOp::Abs => short!(|x| x.abs()),
        UnaryOp::Sign => short!(|x| sign(x)),
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

fn affine<T: Element>(simd: Simd, scale: T, shift: T, x: &[T], out: &mut [T]) {
    map(simd, x, out, move |fma, x| fma.mul_add(scale, x, shift));
}

/// −1, 0 or 1; NaN stays.
#[inline(always)]
fn sign<T: Element>(x: T) -> T {
    let positive = if x > T::ZERO { T::ONE } else { x };
    if x < T::ZERO { -T::ONE } else { positive }
}

/// out = x^power: the usual powers without a logarithm.
pub(super) fn power_of<T: Element>(simd: Simd, power: f64, x: &[T], out: &mut [T]) {
    const USUAL: [f64; 7] = [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5];
    match USUAL.iter().position(|usual| usual.to_bits() == power.to_bits()) {
        Some(0) => out.fill(T::ONE),
        Some(1) => out.copy_from_slice(x),
        Some(2) => map(simd, x, out, |_, x| x * x),
        Some(3) => map(simd, x, out, |_, x| x * x * x),
        Some(4) => map(simd, x, out, |_, x| T::ONE / x),
        Some(5) => map(simd, x, out, |_, x| T::ONE / (x * x)),
        Some(6) => map(simd, x, out, |_, x| x.sqrt()),
        _ => {
            let power = T::from_f64(power);
            map_long(
                simd,
                x,
                out,
                #[inline(always)]
                move |fma, x| math::pow(fma, x, power),
            );
        }
    }
}

/// out = f(x) by a function of the standard library, which is a call for each.
fn each<T: Element>(x: &[T], out: &mut [T], f: impl Fn(T) -> T) {
    assert_eq!(x.len(), out.len());
    for (out, x) in out.iter_mut().zip(x) {
        *out = f(*x);
    }
}
