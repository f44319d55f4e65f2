//! Powers.

use super::super::element::Element;
use super::super::simd::Fma;
use super::{exp, log};

/// Returns aᵇ.
///
/// For `f32`, this is exp(b log |a|) in `f64`, which is accurate enough for all b, with the sign determined by the
/// parity of b. For `f64`, it is the function of the standard library.
#[inline(always)]
pub(crate) fn pow<T: Element>(fma: Fma, a: T, b: T) -> T {
    if size_of::<T>() == size_of::<f32>() { T::from_f64(wide(fma, a.to_f64(), b.to_f64())) } else { a.std_pow(b) }
}

#[inline(always)]
#[expect(clippy::float_cmp, reason = "exceptions at one")]
fn wide(fma: Fma, a: f64, b: f64) -> f64 {
    let size = a.abs();
    let value = exp(fma, b * log(fma, size));
    let integer = is_integer(b);
    let odd = integer & !is_integer(b * 0.5);
    let value = if odd { value.copysign(a) } else { value };
    let value = if (a < 0.0) & (size < f64::INFINITY) & !integer { f64::NAN } else { value };
    // In these cases b log |a| is 0 · ∞.
    let one = (b == 0.0) | (a == 1.0) | ((a == -1.0) & (b.abs() == f64::INFINITY));
    if one { 1.0 } else { value }
}

/// Returns whether x is an integer. Infinity counts as an even integer.
#[inline(always)]
#[expect(clippy::float_cmp, reason = "the rounded number is the same or it is not")]
fn is_integer(x: f64) -> bool {
    x == x.floor()
}
