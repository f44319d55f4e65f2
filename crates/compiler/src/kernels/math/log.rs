//! log(2ᵏ (1 + f)) = k log 2 + log(1 + f), and log(1 + f) = log((1 + s)/(1 − s)) with s = f/(2 + f).

use super::super::element::Element;
use super::super::simd::Fma;

/// Returns log x.
#[inline(always)]
pub(crate) fn log<T: Element>(fma: Fma, x: T) -> T {
    let tiny = x < T::SMALLEST_NORMAL;
    let (k, m) = (if tiny { x * T::SUBNORMAL_SCALE } else { x }).split();
    let k = k - if tiny { T::SUBNORMAL_EXPONENT } else { T::ZERO };
    ends(x, sum(fma, k, m - T::ONE))
}

/// Returns log(1 + x).
#[inline(always)]
pub(crate) fn log1p<T: Element>(fma: Fma, x: T) -> T {
    // u + lost = 1 + x without rounding error.
    let u = T::ONE + x;
    let added = u - T::ONE;
    let lost = (T::ONE - (u - added)) + (x - added);
    let (k, m) = u.split();
    // For large u, the rounding error is negligible and the inverse power might not be a normal number.
    let most = T::SUBNORMAL_EXPONENT + T::SUBNORMAL_EXPONENT;
    let limited = if k < most { k } else { most };
    let f = fma.mul_add(lost, T::inverse_power_of_two(limited + T::SHIFT), m - T::ONE);
    let value = ends(u, sum(fma, k, f));
    // This preserves the sign of zero.
    if x == T::ZERO { x } else { value }
}

/// Returns log(1 + x) for 0 ≤ x ≤ 1, without splitting off an exponent.
#[inline(always)]
pub(super) fn log1p_of_fraction<T: Element>(fma: Fma, x: T) -> T {
    // A single selected number with arithmetic on it: with two selections, the compiler would compute both branches.
    let half = if x > T::SQRT_2 - T::ONE { T::HALF } else { T::ZERO };
    sum(fma, half + half, fma.mul_add(x, T::ONE - half, -half))
}

/// Returns k log 2 + log(1 + f).
#[inline(always)]
fn sum<T: Element>(fma: Fma, k: T, f: T) -> T {
    let s = f / (f + (T::ONE + T::ONE));
    let z = s * s;
    let half_square = T::HALF * f * f;
    // log(1 + f) = f − f²/2 + s (f²/2 + z R(z)), with the small terms added first.
    let small = fma.mul_add(s, fma.mul_add(z, T::log_polynomial(fma, z), half_square), k * T::LN2_LOW);
    fma.mul_add(k, T::LN2_HIGH, f - (half_square - small))
}

/// Returns the logarithm of zero, negative numbers, infinity and NaN, and `value` for other numbers.
#[inline(always)]
fn ends<T: Element>(x: T, value: T) -> T {
    let value = if x < T::INFINITY { value } else { x };
    let value = if x < T::ZERO { T::NAN } else { value };
    if x == T::ZERO { -T::INFINITY } else { value }
}
