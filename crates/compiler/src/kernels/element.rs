//! Number types of the kernels and of the data.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

use super::math::Float;
use super::vector::Vectors;

/// A number type of a table, which can be converted to an [`Element`].
pub trait Number: Copy + Send + Sync + 'static {
    /// Converts the number to a float; true becomes one.
    fn element<T: Element>(self) -> T;
}

macro_rules! number {
    ($($number:ty: |$x:ident| $as_f64:expr),*) => {
        $(impl Number for $number {
            #[inline(always)]
            fn element<T: Element>(self) -> T {
                let $x = self;
                T::from_f64($as_f64)
            }
        })*
    };
}

number!(
    f32: |x| f64::from(x),
    f64: |x| x,
    i32: |x| f64::from(x),
    i64: |x| x as f64,
    u8: |x| f64::from(x),
    bool: |x| f64::from(u8::from(x))
);

/// A floating-point type of the kernels: `f32` or `f64`.
pub trait Element:
    Number
    + Float
    + Vectors
    + Copy
    + Default
    + PartialOrd
    + Send
    + Sync
    + Debug
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + MulAssign
{
    /// The number 0.
    const ZERO: Self;
    /// The number 1.
    const ONE: Self;
    /// The number ½.
    const HALF: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// NaN.
    const NAN: Self;

    /// Rounds to the nearest number of this type.
    fn from_f64(x: f64) -> Self;
    /// Converts to `f64`.
    fn to_f64(self) -> f64;
    /// Returns a b + c, rounded once.
    fn fused_mul_add(self, b: Self, c: Self) -> Self;
    /// Returns aᵇ, computed by the standard library.
    fn std_pow(self, b: Self) -> Self;
    /// Returns a % b, with the sign of a.
    fn truncated_remainder(self, b: Self) -> Self;
    /// Returns |x| with the sign of `sign`.
    fn with_sign_of(self, sign: Self) -> Self;
    /// Returns the angle of the point (x, self).
    fn atan2(self, x: Self) -> Self;
    /// Returns |x|.
    fn abs(self) -> Self;
    /// Returns √x.
    fn sqrt(self) -> Self;
    /// Returns the largest integer not above x.
    fn floor(self) -> Self;
    /// Returns the smallest integer not below x.
    fn ceil(self) -> Self;
    /// Returns the nearest integer; ties round to even.
    fn round(self) -> Self;
    /// Returns the integer part of x.
    fn trunc(self) -> Self;
    /// Returns sin x.
    fn sin(self) -> Self;
    /// Returns cos x.
    fn cos(self) -> Self;
    /// Returns tan x.
    fn tan(self) -> Self;
    /// Returns arcsin x.
    fn asin(self) -> Self;
    /// Returns arccos x.
    fn acos(self) -> Self;
    /// Returns arctan x.
    fn atan(self) -> Self;
    /// Returns sinh x.
    fn sinh(self) -> Self;
    /// Returns cosh x.
    fn cosh(self) -> Self;
    /// Returns arsinh x.
    fn asinh(self) -> Self;
    /// Returns arcosh x.
    fn acosh(self) -> Self;
    /// Returns artanh x.
    fn atanh(self) -> Self;

    /// Returns 1 for true and 0 for false.
    #[inline(always)]
    fn mask(value: bool) -> Self {
        if value { Self::ONE } else { Self::ZERO }
    }

    /// Returns whether a mask is true.
    #[inline(always)]
    fn is_true(self) -> bool {
        self != Self::ZERO
    }

    /// Returns whether this is NaN.
    #[inline(always)]
    fn is_not_a_number(self) -> bool {
        self.partial_cmp(&self).is_none()
    }

    /// Returns the larger number, or NaN if either is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if (self > other) | self.is_not_a_number() { self } else { other }
    }

    /// Returns the smaller number, or NaN if either is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if (self < other) | self.is_not_a_number() { self } else { other }
    }
}

macro_rules! element {
    ($float:ident, $from_f64:expr) => {
        impl Element for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const HALF: Self = 0.5;
            const INFINITY: Self = $float::INFINITY;
            const NAN: Self = $float::NAN;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                $from_f64(x)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn fused_mul_add(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn std_pow(self, b: Self) -> Self {
                self.powf(b)
            }
            #[inline(always)]
            fn truncated_remainder(self, b: Self) -> Self {
                self % b
            }
            #[inline(always)]
            fn with_sign_of(self, sign: Self) -> Self {
                self.copysign(sign)
            }
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                self.atan2(x)
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.round_ties_even()
            }
            element!(@same $float: abs sqrt floor ceil trunc sin cos tan asin acos atan sinh cosh asinh acosh atanh);
        }
    };
    (@same $float:ident: $($function:ident)*) => {
        $(#[inline(always)]
        fn $function(self) -> Self {
            $float::$function(self)
        })*
    };
}

element!(f32, |x| x as f32);
element!(f64, |x| x);
