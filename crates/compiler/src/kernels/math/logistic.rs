//! The logistic function, its logarithm, and tanh, computed from exp(−|x|), which does not overflow.

use super::super::element::Element;
use super::super::simd::Fma;
use super::log::log1p_of_fraction;
use super::{exp, expm1};

/// Returns 1/(1 + e⁻ˣ).
#[inline(always)]
pub(crate) fn sigmoid<T: Element>(fma: Fma, x: T) -> T {
    let e = exp(fma, -x.abs());
    (if x < T::ZERO { e } else { T::ONE }) / (T::ONE + e)
}

/// Returns log(1/(1 + e⁻ˣ)) = min(x, 0) − log(1 + e^−|x|).
#[inline(always)]
pub(crate) fn log_sigmoid<T: Element>(fma: Fma, x: T) -> T {
    (if x < T::ZERO { x } else { T::ZERO }) - log1p_of_fraction(fma, exp(fma, -x.abs()))
}

/// Returns tanh x, from tanh |x| = −t/(2 + t) with t = exp(−2|x|) − 1.
#[inline(always)]
pub(crate) fn tanh<T: Element>(fma: Fma, x: T) -> T {
    let size = x.abs();
    let t = expm1(fma, -(size + size));
    (t / (t + (T::ONE + T::ONE))).with_sign_of(x)
}
