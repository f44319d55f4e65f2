//! exp(x) = 2ⁿ exp(r), with n = round(x / log 2) and r = x − n log 2.

use super::super::element::Element;
use super::super::simd::Fma;
use super::float::clamp;

/// Returns eˣ.
#[inline(always)]
pub(crate) fn exp<T: Element>(fma: Fma, x: T) -> T {
    let (n, rest) = reduced(fma, clamp(x, T::EXP_LOWEST, T::EXP_HIGHEST));
    let (first, second) = halves(fma, n);
    // The multiplication has two steps, because 2ⁿ may be subnormal or infinite although the result is not.
    (T::ONE + rest) * T::power_of_two(first) * T::power_of_two(second)
}

/// Returns eˣ − 1.
#[inline(always)]
pub(crate) fn expm1<T: Element>(fma: Fma, x: T) -> T {
    let (n, rest) = reduced(fma, clamp(x, T::EXPM1_LOWEST, T::EXP_HIGHEST));
    let (first, second) = halves(fma, n);
    // 2ⁿ rest + (2ⁿ − 1). Both terms are divided by the first half of 2ⁿ until the end.
    let scale = T::power_of_two(second);
    let value = T::power_of_two(first) * fma.mul_add(scale, rest, scale - T::inverse_power_of_two(first));
    // This preserves the sign of zero.
    if x == T::ZERO { x } else { value }
}

/// Returns n and exp(r) − 1.
#[inline(always)]
fn reduced<T: Element>(fma: Fma, x: T) -> (T, T) {
    let n = fma.mul_add(x, T::LOG2_E, T::SHIFT) - T::SHIFT;
    let r = fma.mul_add(n, -T::LN2_LOW, fma.mul_add(n, -T::LN2_HIGH, x));
    (n, fma.mul_add(r * r, T::exp_polynomial(fma, r), r))
}

/// Returns two integers of about n/2 with sum n, each plus `SHIFT`.
#[inline(always)]
fn halves<T: Element>(fma: Fma, n: T) -> (T, T) {
    let first = fma.mul_add(n, T::HALF, T::SHIFT);
    (first, (n - (first - T::SHIFT)) + T::SHIFT)
}
