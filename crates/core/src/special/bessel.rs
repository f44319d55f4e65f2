//! The logarithm of the modified Bessel function I₀.
//!
//! Up to x = 8, I₀(x) = 1 + Σⱼ (x²/4)ʲ/(j!)², j ≥ 1, whose terms are positive. Beyond, log I₀(x) = x − ½ log 2πx + P(16/x −
//! 1), where P is the Chebyshev series of a function that is smooth up to x = ∞.

use burn_tensor::Tensor;

use super::real::Real;

/// The argument up to which the power series is used.
const SWITCH: f64 = 8.0;
/// The number of terms of the power series for single and for double precision. The first omitted term is below 1e-9 and
/// 1e-16 of the sum at the switch.
const TERMS_SINGLE: usize = 14;
const TERMS_DOUBLE: usize = 20;

/// The coefficients 1/(j!)², j ≥ 1.
const INVERSE_SQUARES: [f64; TERMS_DOUBLE] = {
    let mut coefficients = [1.0; TERMS_DOUBLE];
    let mut j = 1;
    while j < TERMS_DOUBLE {
        let next = (j + 1) as f64;
        coefficients[j] = coefficients[j - 1] / (next * next);
        j += 1;
    }
    coefficients
};

// The coefficients of P in powers of 16/x − 1, from its Chebyshev coefficients up to degree 7 and 20, computed with 60
// digits. The omitted coefficients add up to 1.5e-10 and 2.4e-16.
const FAR_SINGLE: [f64; 8] = [
    0.008_074_324_638,
    0.008_355_913_794,
    0.000_303_789_114_4,
    2.506_312_73e-5,
    3.404_886_686e-6,
    7.268_899_12e-7,
    2.611_037_869e-7,
    7.600_734_969e-8,
];
const FAR_DOUBLE: [f64; 21] = [
    0.008_074_324_696_335_042,
    0.008_355_913_149_438_942,
    0.000_303_786_599_303_912_9,
    2.507_117_302_337_611_5e-5,
    3.423_100_216_785_859_6e-6,
    7.018_627_912_353_818e-7,
    2.131_729_618_011_400_8e-7,
    9.570_155_416_856_015e-8,
    5.285_964_157_526_843_4e-8,
    1.809_154_531_285_449_2e-8,
    -1.782_901_491_856_329_3e-8,
    -3.247_133_852_703_206e-8,
    -1.043_025_426_972_688_7e-8,
    1.726_693_959_614_881_5e-8,
    1.277_045_339_710_421_8e-8,
    -6.517_524_918_831_276e-9,
    -7.244_804_254_099_199_6e-9,
    1.707_234_263_837_094_5e-9,
    2.408_421_390_270_475e-9,
    -2.274_612_019_788_674_4e-10,
    -3.670_582_317_953_524e-10,
];

/// Returns log I₀(x) for 0 ≤ x ≤ 8.
fn near<T: Real>(x: T) -> T {
    let y = (x.clone() * x).times(0.25);
    let terms = if y.single() { TERMS_SINGLE } else { TERMS_DOUBLE };
    (y.clone() * y.polynomial(&INVERSE_SQUARES[..terms])).log1p()
}

/// Returns log(I₀(x) exp(−x)) for x ≥ 8.
fn far<T: Real>(x: T) -> T {
    let coefficients: &[f64] = if x.single() { &FAR_SINGLE } else { &FAR_DOUBLE };
    let series = x.clone().inverse().times(2.0 * SWITCH).plus(-1.0).polynomial(coefficients);
    series - x.times(std::f64::consts::TAU).log().times(0.5)
}

/// Returns log(I₀(x) exp(−x)) of a number x ≥ 0.
pub(crate) fn log_bessel_i0_scaled_of(x: f64) -> f64 {
    if x > SWITCH { far(x) } else { near(x) - x }
}

/// Returns log(I₀(x) exp(−x)) for x ≥ 0.
pub(crate) fn log_bessel_i0_scaled<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let beyond = x.clone().greater_elem(SWITCH);
    let small = x.clone().mask_fill(beyond.clone(), 0.0);
    (near(small.clone()) - small).mask_where(beyond, far(x.clamp_min(SWITCH)))
}

/// Returns log I₀(x) for x ≥ 0, where I₀ is the modified Bessel function of the first kind of order zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::log_bessel_i0};
///
/// let value = log_bessel_i0(full([1], 1.0)).into_scalar::<f64>();
/// assert!((value - 0.235_914_358_507_178_65).abs() < 1e-12);
/// ```
pub fn log_bessel_i0<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let beyond = x.clone().greater_elem(SWITCH);
    let large = x.clone().clamp_min(SWITCH);
    near(x.mask_fill(beyond.clone(), 0.0)).mask_where(beyond, far(large.clone()) + large)
}
