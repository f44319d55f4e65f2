//! The error function, its complement, and the normal distribution function with both tails.
//!
//! For z ≥ 0, erfc(z) = exp(−z²) t exp P(2t − 1), t = 2/(2 + z), where P is a polynomial: the Chebyshev series of
//! log(erfc(z) exp(z²)/t) in 2t − 1, which is smooth on 0 ≤ z ≤ ∞. The logarithm of erfc therefore does not require the
//! logarithm of a number that underflows.

use burn_tensor::{Bool, Tensor};

use super::is_single;
use super::real::Real;

// The coefficients of P in powers of 2t − 1, from its Chebyshev coefficients up to degree 11 and 25, computed with 60
// digits. The omitted coefficients add up to 1.3e-8 and 1.5e-16.
const LOG_SCALED_SINGLE: [f64; 12] = [
    -0.671_794_091_7,
    0.672_643_154_8,
    0.047_343_887_61,
    -0.046_893_640_56,
    -0.009_880_019_324,
    0.008_808_825_369,
    0.001_794_066_25,
    -0.002_288_765_239,
    -0.000_227_910_966,
    0.000_573_766_372,
    8.000_738_162e-6,
    -8.728_381_022e-5,
];
const LOG_SCALED_DOUBLE: [f64; 26] = [
    -0.671_794_084_056_692_2,
    0.672_643_223_977_656,
    0.047_343_306_841_863_525,
    -0.046_895_610_231_083_025,
    -0.009_872_689_364_099_222,
    0.008_824_938_553_738_764,
    0.001_758_933_507_402_803_2,
    -0.002_345_812_444_802_156,
    -0.000_146_246_287_421_284_06,
    0.000_673_678_269_706_983_1,
    -9.373_894_767_667_295e-5,
    -0.000_174_299_849_331_556_44,
    7.141_810_433_422_301e-5,
    3.173_310_599_377_061e-5,
    -3.023_784_054_007_137e-5,
    1.699_233_231_227_702e-7,
    8.662_535_397_475_538e-6,
    -3.007_645_434_410_669e-6,
    -1.409_445_991_433_531e-6,
    1.326_781_360_851_888_9e-6,
    -4.146_853_754_663_641e-8,
    -3.168_341_367_694_147e-7,
    7.745_572_408_758_512e-8,
    3.972_203_547_273_795e-8,
    -1.277_608_655_496_867_7e-8,
    -1.586_704_292_413_804_2e-9,
];

/// Returns the error function erf(x) = 2/√π ∫₀ˣ exp(−s²) ds.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::erf};
///
/// let value = erf(full([1], 1.0)).into_scalar::<f64>();
/// assert!((value - 0.842_700_792_949_714_9).abs() < 1e-12);
/// ```
pub fn erf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    x.erf()
}

/// Returns the complementary error function 1 − erf(x). It is accurate for large x, where it is about exp(−x²)/(x√π).
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::erfc};
///
/// let value = erfc(full([1], 10.0)).into_scalar::<f64>();
/// assert!((value / 2.088_487_583_762_545e-45 - 1.0).abs() < 1e-12);
/// ```
pub fn erfc<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let negative = x.clone().lower_elem(0.0);
    let z = flip(x, negative.clone());
    let tail = log_scaled_erfc(z.clone()).exp() * gauss(z, 1.0);
    tail.clone().mask_where(negative, tail.neg() + 2.0)
}

/// Returns the standard normal distribution function Φ(x). It is accurate in the lower tail.
///
/// # Examples
///
/// ```
/// use sgmcmc::{special::normal_cdf, zeros};
///
/// assert!((normal_cdf(zeros([1])).into_scalar::<f64>() - 0.5).abs() < 1e-12);
/// ```
pub fn normal_cdf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let positive = x.clone().greater_elem(0.0);
    let lower = lower_tail(flip(x, positive.clone()).neg());
    lower.clone().mask_where(positive, lower.neg() + 1.0)
}

/// Returns log Φ(x). It is accurate in both tails: about −x²/2 far below zero, and about −Φ(−x) far above.
///
/// # Examples
///
/// ```
/// use sgmcmc::{full, special::normal_log_cdf};
///
/// let value = normal_log_cdf(full([1], -40.0)).into_scalar::<f64>();
/// assert!((value + 804.608_442_013_754).abs() < 1e-6);
/// ```
pub fn normal_log_cdf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let positive = x.clone().greater_elem(0.0);
    let size = flip(x.clone(), positive.clone()).neg();
    let below = log_scaled_erfc(size.clone() * std::f64::consts::FRAC_1_SQRT_2)
        - std::f64::consts::LN_2
        - size.clone().square() * 0.5;
    below.mask_where(positive, lower_tail(size).neg().log1p())
}

/// Returns Φ(−x) for x ≥ 0.
fn lower_tail<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    let scaled = log_scaled_erfc(x.clone() * std::f64::consts::FRAC_1_SQRT_2).exp() * 0.5;
    scaled * gauss(x, 0.5)
}

/// Returns x with its sign changed where `mask` is true. Unlike the gradient of `abs`, its gradient at zero is not
/// zero.
fn flip<const D: usize>(x: Tensor<D>, mask: Tensor<D, Bool>) -> Tensor<D> {
    let negated = x.clone().neg();
    x.mask_where(mask, negated)
}

/// Returns log(erfc(z) exp(z²)) for z ≥ 0.
fn log_scaled_erfc<const D: usize>(z: Tensor<D>) -> Tensor<D> {
    let coefficients: &[f64] = if is_single(&z) { &LOG_SCALED_SINGLE } else { &LOG_SCALED_DOUBLE };
    let t = (z * 0.5 + 1.0).recip();
    (t.clone() * 2.0 - 1.0).polynomial(coefficients) + t.log()
}

/// Returns exp(−c x²).
///
/// The square is split as x² = h² + (x − h)(x + h), where h is a multiple of 1/16 with an exact square. The exponential
/// of a rounded x² would have a relative error proportional to x².
fn gauss<const D: usize>(x: Tensor<D>, c: f64) -> Tensor<D> {
    let h = (x.clone().detach() * 16.0).floor() / 16.0;
    let rest = (x.clone() - h.clone()) * (x + h.clone());
    (h.square() * -c).exp() * (rest * -c).exp()
}
