//! Functions of one number.

use super::super::element::Element;
use super::super::math;
use super::super::simd::{Fma, Simd};
use super::{map, map_long};
use crate::graph::UnaryOp;

/// out = f(x).
pub(crate) fn unary<T: Element>(simd: Simd, op: UnaryOp, x: &[T], out: &mut [T]) {
    with_unary(op, Slices { simd, x, out });
}

/// The arguments of a function of one number.
pub(super) trait Apply<T: Element> {
    /// Applies a function with few instructions.
    fn short(self, f: impl Fn(Fma, T) -> T);
    /// Applies a function with many instructions.
    fn long(self, f: impl Fn(Fma, T) -> T);
}

struct Slices<'a, T> {
    simd: Simd,
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Element> Apply<T> for Slices<'_, T> {
    #[inline(always)]
    fn short(self, f: impl Fn(Fma, T) -> T) {
        map(self.simd, self.x, self.out, f);
    }

    #[inline(always)]
    fn long(self, f: impl Fn(Fma, T) -> T) {
        map_long(self.simd, self.x, self.out, f);
    }
}

/// Applies the function of `op`.
#[inline(always)]
pub(super) fn with_unary<T: Element>(op: UnaryOp, apply: impl Apply<T>) {
    macro_rules! short {
        (|$x:ident| $value:expr) => {
            apply.short(
                #[inline(always)]
                |_, $x: T| $value,
            )
        };
    }
    macro_rules! long {
        ($function:path) => {
            apply.long(
                #[inline(always)]
                |fma, x: T| $function(fma, x),
            )
        };
    }
    match op {
        UnaryOp::Detach => short!(|x| x),
        UnaryOp::Neg => short!(|x| -x),
        UnaryOp::Affine { scale, shift } => {
            let (scale, shift) = (T::from_f64(scale.0), T::from_f64(shift.0));
            apply.short(
                #[inline(always)]
                move |fma, x| fma.mul_add(scale, x, shift),
            );
        }
        UnaryOp::Square => short!(|x| x * x),
        UnaryOp::Power(power) => with_power(power.0, apply),
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
        // These functions call the standard library for each number.
        UnaryOp::Sin => short!(|x| x.sin()),
        UnaryOp::Cos => short!(|x| x.cos()),
        UnaryOp::Tan => short!(|x| x.tan()),
        UnaryOp::Asin => short!(|x| x.asin()),
        UnaryOp::Acos => short!(|x| x.acos()),
        UnaryOp::Atan => short!(|x| x.atan()),
        UnaryOp::Sinh => short!(|x| x.sinh()),
        UnaryOp::Cosh => short!(|x| x.cosh()),
        UnaryOp::Asinh => short!(|x| x.asinh()),
        UnaryOp::Acosh => short!(|x| x.acosh()),
        UnaryOp::Atanh => short!(|x| x.atanh()),
        UnaryOp::Floor => short!(|x| x.floor()),
        UnaryOp::Ceil => short!(|x| x.ceil()),
        UnaryOp::Round => short!(|x| x.round()),
        UnaryOp::Trunc => short!(|x| x.trunc()),
        UnaryOp::IsNan => short!(|x| T::mask(x.is_not_a_number())),
        UnaryOp::IsInfinite => short!(|x| T::mask(x.abs() == T::INFINITY)),
        UnaryOp::Not => short!(|x| T::mask(!x.is_true())),
    }
}

/// Returns −1, 0 or 1; 0 for NaN.
#[inline(always)]
fn sign<T: Element>(x: T) -> T {
    let positive = if x > T::ZERO { T::ONE } else { T::ZERO };
    if x < T::ZERO { -T::ONE } else { positive }
}

/// out = x^power.
pub(super) fn power_of<T: Element>(simd: Simd, power: f64, x: &[T], out: &mut [T]) {
    with_power(power, Slices { simd, x, out });
}

/// Applies x^power. Common powers do not need a logarithm.
#[inline(always)]
fn with_power<T: Element>(power: f64, apply: impl Apply<T>) {
    const USUAL: [f64; 7] = [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5];
    macro_rules! short {
        (|$x:pat_param| $value:expr) => {
            apply.short(
                #[inline(always)]
                |_, $x: T| $value,
            )
        };
    }
    match USUAL.iter().position(|usual| usual.to_bits() == power.to_bits()) {
        Some(0) => short!(|_| T::ONE),
        Some(1) => short!(|x| x),
        Some(2) => short!(|x| x * x),
        Some(3) => short!(|x| x * x * x),
        Some(4) => short!(|x| T::ONE / x),
        Some(5) => short!(|x| T::ONE / (x * x)),
        Some(6) => short!(|x| x.sqrt()),
        _ => {
            let power = T::from_f64(power);
            apply.long(
                #[inline(always)]
                move |fma, x| math::pow(fma, x, power),
            );
        }
    }
}
