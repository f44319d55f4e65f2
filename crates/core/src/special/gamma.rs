//! The logarithm of the gamma function and its relatives, by Stirling's series away from the origin.
//!
//! With x' = x + k,
//!
//! ```text
//! lgamma(x) = (x − ½) log x' − x' + ½ log 2π + correction(x)
//! correction(x) = Σₙ B₂ₙ / (2n(2n−1) x'²ⁿ⁻¹) − log Πⱼ (x + j)/x',   j = 0 … k−1
//! ```
//!
//! In this grouping the terms do not cancel, and differences of `lgamma` at large arguments ([`lbeta`],
//! [`lgamma_half_step`]) can be taken term by term: the large parts combine to `log1p` of a ratio.

use burn_tensor::Tensor;

use super::HALF_LOG_TWO_PI;
use super::real::Real;

/// k, and the series' coefficients in 1/x'², for single precision.
const SHIFT_SINGLE: f64 = 4.0;
const SERIES_SINGLE: [f64; 3] = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0];
const DIGAMMA_SINGLE: [f64; 5] = [0.0, 1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0];

/// k, and the series' coefficients in 1/x'², for double precision. The first term left out is below 1e-15.
const SHIFT_DOUBLE: f64 = 8.0;
const SERIES_DOUBLE: [f64; 7] =
    [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
const DIGAMMA_DOUBLE: [f64; 8] =
    [0.0, 1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0];

fn shift<T: Real>(x: &T) -> f64 {
    if x.single() { SHIFT_SINGLE } else { SHIFT_DOUBLE }
}

/// x', the series and the product Πⱼ (x + j)/x' of the head of this file.
fn parts<T: Real>(x: T) -> (T, T, T) {
    let (single, k) = (x.single(), shift(&x));
    let shifted = x.clone().plus(k);
    let inverse = shifted.clone().inverse();
    let square = inverse.clone() * inverse.clone();
    // Factors j and k−1−j are taken together: with u = x/x', (u + j/x')(u + (k−1−j)/x') = p + j(k−1−j)/x'².
    let u = x * inverse.clone();
    let p = u.clone() * (u + inverse.clone().times(k - 1.0));
    let pair = |j: f64| p.clone() + square.clone().times(j * (k - 1.0 - j));
    let (product, series) = if single {
        (p.clone() * pair(1.0), square.clone().polynomial(&SERIES_SINGLE))
    } else {
        ((p.clone() * pair(1.0)) * (pair(2.0) * pair(3.0)), square.clone().polynomial(&SERIES_DOUBLE))
    };
    (shifted, series * inverse, product)
}

/// x' and correction(x), see the head of this file.
pub(crate) fn stirling<T: Real>(x: T) -> (T, T) {
    let (shifted, series, product) = parts(x);
    (shifted, series - product.log())
}

/// `lgamma` of a number or a tensor.
pub(crate) fn lgamma_of<T: Real>(x: T) -> T {
    let (shifted, correction) = stirling(x.clone());
    x.plus(-0.5) * shifted.clone().log() - shifted + correction.plus(HALF_LOG_TWO_PI)
}

/// lgamma(x + ½) − lgamma(x), also where both are large. For x > 0.
pub(crate) fn lgamma_half_step<T: Real>(x: T) -> T {
    let (shifted, below) = stirling(x.clone());
    let (_, above) = stirling(x.clone().plus(0.5));
    let ratio = shifted.clone().inverse().times(0.5).log1p();
    x * ratio + shifted.log().times(0.5).plus(-0.5) + (above - below)
}

/// `lbeta` of numbers or tensors.
pub(crate) fn lbeta_of<T: Real>(a: T, b: T) -> T {
    let constant = (HALF_LOG_TWO_PI - shift(&a)).exp();
    let (a_shifted, a_series, a_product) = parts(a.clone());
    let (b_shifted, b_series, b_product) = parts(b.clone());
    let (s_shifted, s_series, s_product) = parts(a.clone() + b.clone());
    // a log(a'/s') + b log(b'/s'), where s' = a' + b = b' + a.
    let large = a.clone() * (b.clone() / a_shifted.clone()).log1p() + b * (a / b_shifted.clone()).log1p();
    // All other logarithms in one: they would cancel. No quotient exceeds 2/min(a, b).
    let root = (s_shifted / a_shifted / b_shifted).root();
    let rest = (s_product / a_product / b_product * root).times(constant).log();
    rest + (a_series + b_series - s_series) - large
}

/// log Γ(x), for x > 0; +∞ at 0.
pub fn lgamma<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    lgamma_of(x)
}

/// log B(a, b) = log Γ(a) + log Γ(b) − log Γ(a + b), for a, b > 0, without their cancellation where they are large.
pub fn lbeta<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    lbeta_of(a, b)
}

/// The derivative of log Γ(x), for x > 0.
///
/// ψ(x) = log x' − 1/(2x') − Σₙ B₂ₙ/(2n x'²ⁿ) − Σⱼ 1/(x + j), x' = x + k.
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
