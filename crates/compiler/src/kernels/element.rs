//! The numbers kernels compute with, and those they read.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

use super::math::Float;
use super::vector::Vectors;

/// A number a table holds, to be read as an [`Element`].
pub trait Number: Copy + Send + Sync + 'static {
    /// The same as a float; true is one.
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

/// `f32` or `f64`.
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
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// ½.
    const HALF: Self;
    /// ∞.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;

    /// The nearest number.
    fn from_f64(x: f64) -> Self;
    /// The same number.
    fn to_f64(self) -> f64;
    /// a b + c, rounded once.
    fn fused_mul_add(self, b: Self, c: Self) -> Self;
    /// aᵇ of the standard library.
    fn std_pow(self, b: Self) -> Self;
    /// a % b, with the sign of a.
    fn truncated_remainder(self, b: Self) -> Self;
    /// |x| with the sign of `sign`.
    fn with_sign_of(self, sign: Self) -> Self;
    /// The angle of the point (x, self).
    fn atan2(self, x: Self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// √x.
    fn sqrt(self) -> Self;
    /// The largest integer not above x.
    fn floor(self) -> Self;
    /// The smallest integer not below x.
    fn ceil(self) -> Self;
    /// The nearest integer, of two the even one.
    fn round(self) -> Self;
    /// x without its fraction.
    fn trunc(self) -> Self;
    /// sin x.
    fn sin(self) -> Self;
    /// cos x.
    fn cos(self) -> Self;
    /// tan x.
    fn tan(self) -> Self;
    /// arcsin x.
    fn asin(self) -> Self;
    /// arccos x.
    fn acos(self) -> Self;
    /// arctan x.
    fn atan(self) -> Self;
    /// sinh x.
    fn sinh(self) -> Self;
    /// cosh x.
    fn cosh(self) -> Self;
    /// arsinh x.
    fn asinh(self) -> Self;
    /// arcosh x.
    fn acosh(self) -> Self;
    /// artanh x.
    fn atanh(self) -> Self;

    /// 1 if true, 0 if not.
    #[inline(always)]
    fn mask(value: bool) -> Self {
        if value { Self::ONE } else { Self::ZERO }
    }

    /// Whether a mask is true.
    #[inline(always)]
    fn is_true(self) -> bool {
        self != Self::ZERO
    }

    /// Whether this is not a number.
    #[inline(always)]
    fn is_not_a_number(self) -> bool {
        self.partial_cmp(&self).is_none()
    }

    /// The larger; NaN if one is.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if (self > other) | self.is_not_a_number() { self } else { other }
    }

    /// The smaller; NaN if one is.
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
