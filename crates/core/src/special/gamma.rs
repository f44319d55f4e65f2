//! The logarithm of the gamma function and related functions, by Stirling's series away from the origin.
//!
//! With x' = x + k,
//!
//! ```text
//! lgamma(x) = (x − ½) log x' − x' + ½ log 2π + correction(x)
//! correction(x) = Σₙ B₂ₙ / (2n(2n−1) x'²ⁿ⁻¹) − log Πⱼ (x + j)/x',   j = 0 … k−1
//! ```
//!
//! In this grouping the terms do not cancel. Differences of `lgamma` at large arguments ([`lbeta`],
//! [`lgamma_half_step`]) are computed term by term: the large parts combine to `log1p` of a ratio.

use burn_tensor::Tensor;

use super::HALF_LOG_TWO_PI;
use super::real::Real;

/// The shift k and the coefficients of the series in 1/x'², for single precision.
const SHIFT_SINGLE: f64 = 4.0;
const SERIES_SINGLE: [f64; 3] = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0];
const DIGAMMA_SINGLE: [f64; 5] = [0.0, 1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0];

/// The shift k and the coefficients of the series in 1/x'², for double precision. The first omitted term is below
/// 1e-15.
const SHIFT_DOUBLE: f64 = 8.0;
const SERIES_DOUBLE: [f64; 7] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
const DIGAMMA_DOUBLE: [f64; 8] =
    [0.0, 1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0];

/// Returns the shift k for the precision of `x`.
fn shift<T: Real>(x: &T) -> f64 {
    if x.single() { SHIFT_SINGLE } else { SHIFT_DOUBLE }
}

/// The terms of Stirling's series in the grouping of the module documentation.
struct StirlingTerms<T> {
    /// The shifted argument x'.
    shifted: T,
    /// The series in 1/x'.
    series: T,
    /// The product Πⱼ (x + j)/x'.
    product: T,
}

/// Computes the terms of Stirling's series at `x`.
fn stirling_terms<T: Real>(x: T) -> StirlingTerms<T> {
    let (single, k) = (x.single(), shift(&x));
    let shifted = x.clone().plus(k);
    let inverse = shifted.clone().inverse();
    let square = inverse.clone() * inverse.clone();
    // The factors j and k−1−j are combined: with u = x/x', (u + j/x')(u + (k−1−j)/x') = p + j(k−1−j)/x'².
    let u = x * inverse.clone();
    let p = u.clone() * (u + inverse.clone().times(k - 1.0));
    let pair = |j: f64| p.clone() + square.clone().times(j * (k - 1.0 - j));
    let (product, series) = if single {
        (p.clone() * pair(1.0), square.clone().polynomial(&SERIES_SINGLE))
    } else {
        ((p.clone() * pair(1.0)) * (pair(2.0) * pair(3.0)), square.clone().polynomial(&SERIES_DOUBLE))
    };
    StirlingTerms { shifted, series: series * inverse, product }
}

/// Returns x' and correction(x) of the module documentation.
pub(crate) fn stirling<T: Real>(x: T) -> (T, T) {
    let StirlingTerms { shifted, series, product } = stirling_terms(x);
    (shifted, series - product.log())
}

/// Returns `lgamma` of a number or a tensor.
pub(crate) fn lgamma_of<T: Real>(x: T) -> T {
    let (shifted, correction) = stirling(x.clone());
    x.plus(-0.5) * shifted.clone().log() - shifted + correction.plus(HALF_LOG_TWO_PI)
}

/// Returns lgamma(x + ½) − lgamma(x) for x > 0, without cancellation where both are large.
pub(crate) fn lgamma_half_step<T: Real>(x: T) -> T {
    let (shifted, below) = stirling(x.clone());
    let (_, above) = stirling(x.clone().plus(0.5));
    let ratio = shifted.clone().inverse().times(0.5).log1p();
    x * ratio + shifted.log().times(0.5).plus(-0.5) + (above - below)
}

/// Returns `lbeta` of numbers or tensors.
pub(crate) fn lbeta_of<T: Real>(a: T, b: T) -> T {
    let constant = (HALF_LOG_TWO_PI - shift(&a)).exp();
    let of_a = stirling_terms(a.clone());
    let of_b = stirling_terms(b.clone());
    let of_sum = stirling_terms(a.clone() + b.clone());
    // a log(a'/s') + b log(b'/s'), where s' = a' + b = b' + a.
    let large = a.clone() * (b.clone() / of_a.shifted.clone()).log1p() + b * (a / of_b.shifted.clone()).log1p();
    // The other logarithms would cancel, so they are combined into one. No quotient exceeds 2/min(a, b).
    let root = (of_sum.shifted / of_a.shifted / of_b.shifted).root();
    let rest = (of_sum.product / of_a.product / of_b.product * root).times(constant).log();
    rest + (of_a.series + of_b.series - of_sum.series) - large
}

/// Returns log Γ(x) for x > 0, and +∞ at 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::lgamma};
///
/// let value = lgamma(full([1], 5.0)).into_scalar::<f64>();
/// assert!((value - 24.0_f64.ln()).abs() < 1e-12);
/// ```
pub fn lgamma<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    lgamma_of(x)
}

/// Returns log B(a, b) = log Γ(a) + log Γ(b) − log Γ(a + b) for a, b > 0, without cancellation at large arguments.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::lbeta};
///
/// let value = lbeta(full([1], 2.0), full([1], 3.0)).into_scalar::<f64>();
/// assert!((value + 12.0_f64.ln()).abs() < 1e-12);
/// ```
pub fn lbeta<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    lbeta_of(a, b)
}

/// Returns ψ(x), the derivative of log Γ(x), for x > 0.
///
/// ψ(x) = log x' − 1/(2x') − Σₙ B₂ₙ/(2n x'²ⁿ) − Σⱼ 1/(x + j), x' = x + k.
///
/// # Examples
///
/// ```
/// use sgmcmc::{ones, special::digamma};
///
/// let value = digamma(ones([1])).into_scalar::<f64>();
/// assert!((value + 0.577_215_664_901_532_9).abs() < 1e-12);
/// ```
pub fn digamma<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let (single, k) = (x.single(), shift(&x));
    let inverse = (x.clone() + k).recip();
    let coefficients: &[f64] = if single { &DIGAMMA_SINGLE } else { &DIGAMMA_DOUBLE };
    let series = inverse.clone().square().polynomial(coefficients);
    // 1/(x+j) + 1/(x+k−1−j) = (2x + k−1)/(q + j(k−1−j)), q = x(x + k−1).
    let q = x.clone() * (x.clone() + (k - 1.0));
    let pair = |j: f64| (q.clone() + j * (k - 1.0 - j)).recip();
    let pairs = if single { pair(0.0) + pair(1.0) } else { (pair(3.0) + pair(2.0)) + pair(1.0) + pair(0.0) };
    let poles = (x.clone() * 2.0 + (k - 1.0)) * pairs;
    (x + k).log() - inverse * 0.5 - series - poles
}
