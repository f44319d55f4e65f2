//! The error function: x + x P(x²) near zero, 1 − exp(−Q(|x|)) further out.

use super::super::element::Element;
use super::super::simd::Fma;
use super::exp;

/// erf x.
#[inline(always)]
pub(crate) fn erf<T: Element>(fma: Fma, x: T) -> T {
    let size = x.abs();
    let near = fma.mul_add(x, T::erf_polynomial(fma, x * x), x);
    let limited = if size > T::ERF_LARGE { T::ERF_LARGE } else { size };
    let far = T::ONE - exp(fma, -T::erfc_polynomial(fma, limited - T::ONE));
    // NaN is not above the bound and takes the first.
    if size > T::ERF_SMALL { far.with_sign_of(x) } else { near }
}
