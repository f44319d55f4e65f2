//! The error function: x + x P(x²) for small |x|, 1 − exp(−Q(|x|)) for large |x|.

use super::super::element::Element;
use super::super::simd::Fma;
use super::exp;

/// Returns erf x.
#[inline(always)]
pub(crate) fn erf<T: Element>(fma: Fma, x: T) -> T {
    let size = x.abs();
    let near = fma.mul_add(x, T::erf_polynomial(fma, x * x), x);
    let limited = if size > T::ERF_LARGE { T::ERF_LARGE } else { size };
    let far = T::ONE - exp(fma, -T::erfc_polynomial(fma, limited - T::ONE));
    // NaN fails the comparison and propagates through `near`.
    if size > T::ERF_SMALL { far.with_sign_of(x) } else { near }
}
