//! Constants, polynomials and bit operations that differ between `f32` and `f64`.

use super::super::element::Element;
use super::super::simd::Fma;

/// The constants, polynomials and bit operations of a floating-point type.
///
/// The polynomials are minimax approximations. Their errors are below a hundredth of a unit in the last place of the
/// result.
pub trait Float: Sized {
    /// 1.5 · 2^(mantissa bits). x + `SHIFT` contains x, rounded to an integer, in its lowest bits.
    const SHIFT: Self;
    /// The number 1/log 2.
    const LOG2_E: Self;
    /// The number √2.
    const SQRT_2: Self;
    /// The leading bits of log 2, such that the product with an exponent is exact.
    const LN2_HIGH: Self;
    /// log 2 − `LN2_HIGH`.
    const LN2_LOW: Self;
    /// The bound below which exp(x) is zero.
    const EXP_LOWEST: Self;
    /// The bound above which exp(x) is infinite.
    const EXP_HIGHEST: Self;
    /// The bound below which exp(x) − 1 is −1.
    const EXPM1_LOWEST: Self;
    /// The smallest positive normal number.
    const SMALLEST_NORMAL: Self;
    /// A power of two that makes subnormal numbers normal.
    const SUBNORMAL_SCALE: Self;
    /// The exponent of `SUBNORMAL_SCALE`.
    const SUBNORMAL_EXPONENT: Self;
    /// The bound of |x| up to which erf is computed by a polynomial.
    const ERF_SMALL: Self;
    /// The bound of |x| from which on erf is one.
    const ERF_LARGE: Self;

    /// Returns 2ⁿ for n + `SHIFT`, where n is the exponent of a normal number.
    fn power_of_two(shifted: Self) -> Self;
    /// Returns 2⁻ⁿ for n + `SHIFT`.
    fn inverse_power_of_two(shifted: Self) -> Self;
    /// Returns (k, m) with x = 2ᵏ m and √½ ≤ m < √2, for a positive normal number.
    fn split(self) -> (Self, Self);
    /// Returns (exp(r) − 1 − r) / r² for |r| ≤ log(2)/2.
    fn exp_polynomial(fma: Fma, r: Self) -> Self;
    /// Returns (log((1 + s)/(1 − s)) − 2s) / s³ for z = s², |s| ≤ (√2 − 1)/(√2 + 1).
    fn log_polynomial(fma: Fma, z: Self) -> Self;
    /// Returns erf(x)/x − 1 as a function of x² for |x| ≤ `ERF_SMALL`.
    fn erf_polynomial(fma: Fma, square: Self) -> Self;
    /// Returns −log(1 − erf(1 + v)) for `ERF_SMALL` ≤ 1 + v ≤ `ERF_LARGE`.
    fn erfc_polynomial(fma: Fma, v: Self) -> Self;
}

/// Evaluates c₀ + x (c₁ + x (c₂ + …)).
macro_rules! horner {
    ($fma:ident, $x:ident, $last:expr) => { $last };
    ($fma:ident, $x:ident, $first:expr, $($rest:expr),+) => {
        $fma.mul_add(horner!($fma, $x, $($rest),+), $x, $first)
    };
}

macro_rules! bits {
    ($float:ident, $unsigned:ident, $mantissa:literal, $bias:literal) => {
        const SHIFT: Self = ((3 as $unsigned) << ($mantissa - 1)) as $float;
        const LOG2_E: Self = std::$float::consts::LOG2_E;
        const SQRT_2: Self = std::$float::consts::SQRT_2;
        const SMALLEST_NORMAL: Self = $float::MIN_POSITIVE;

        #[inline(always)]
        fn power_of_two(shifted: Self) -> Self {
            $float::from_bits(shifted.to_bits().wrapping_add($bias) << $mantissa)
        }

        #[inline(always)]
        fn inverse_power_of_two(shifted: Self) -> Self {
            const SHIFTED_BIAS: $unsigned = $float::SHIFT.to_bits() + $bias;
            $float::from_bits(SHIFTED_BIAS.wrapping_sub(shifted.to_bits()) << $mantissa)
        }

        #[inline(always)]
        fn split(self) -> (Self, Self) {
            // The exponent plus a positive offset, in the lowest bits of `OFFSET` as a float.
            const MOVED: $unsigned = ($bias + 1) << 1;
            const OFFSET: $float = ((1 as $unsigned) << $mantissa) as $float;
            const SQRT_HALF: $unsigned = std::$float::consts::FRAC_1_SQRT_2.to_bits();
            let bits = self.to_bits();
            let exponent = bits.wrapping_sub(SQRT_HALF).wrapping_add(MOVED << $mantissa) >> $mantissa;
            let k = $float::from_bits(OFFSET.to_bits() | exponent) - (OFFSET + MOVED as $float);
            (k, $float::from_bits(bits.wrapping_sub(exponent.wrapping_sub(MOVED) << $mantissa)))
        }
    };
}

impl Float for f32 {
    bits!(f32, u32, 23, 127);
    const LN2_HIGH: Self = 0.693_145_75;
    const LN2_LOW: Self = 1.428_606_8e-6;
    const EXP_LOWEST: Self = -104.0;
    const EXP_HIGHEST: Self = 100.0;
    const EXPM1_LOWEST: Self = -20.0;
    const SUBNORMAL_SCALE: Self = 33_554_432.0;
    const SUBNORMAL_EXPONENT: Self = 25.0;
    const ERF_SMALL: Self = 0.92;
    const ERF_LARGE: Self = 4.0;

    #[inline(always)]
    fn exp_polynomial(fma: Fma, r: Self) -> Self {
        horner!(fma, r, 0.5, 0.16666667, 0.04166626, 0.008333263, 0.0013946634, 0.00019919254)
    }

    #[inline(always)]
    fn log_polynomial(fma: Fma, z: Self) -> Self {
        horner!(fma, z, 0.6666666, 0.40000343, 0.2853679, 0.2359326)
    }

    #[inline(always)]
    fn erf_polynomial(fma: Fma, square: Self) -> Self {
        horner!(
            fma,
            square,
            0.12837917,
            -0.37612635,
            0.11283694,
            -0.02685927,
            0.0052006347,
            -0.00081374403,
            8.345225e-05
        )
    }

    #[inline(always)]
    fn erfc_polynomial(fma: Fma, v: Self) -> Self {
        horner!(
            fma,
            v,
            1.8496056,
            2.6389675,
            0.84310734,
            0.041561678,
            -0.010041572,
            0.0020058097,
            -0.0002859362,
            2.0909585e-05
        )
    }
}

impl Float for f64 {
    bits!(f64, u64, 52, 1023);
    const LN2_HIGH: Self = 0.693_147_180_559_890_3;
    const LN2_LOW: Self = 5.497_923_018_708_371e-14;
    const EXP_LOWEST: Self = -746.0;
    const EXP_HIGHEST: Self = 720.0;
    const EXPM1_LOWEST: Self = -40.0;
    const SUBNORMAL_SCALE: Self = 18_014_398_509_481_984.0;
    const SUBNORMAL_EXPONENT: Self = 54.0;
    const ERF_SMALL: Self = 1.0;
    const ERF_LARGE: Self = 5.95;

    #[inline(always)]
    fn exp_polynomial(fma: Fma, r: Self) -> Self {
        horner!(
            fma,
            r,
            0.5,
            0.16666666666666685,
            0.04166666666666673,
            0.008333333333316078,
            0.0013888888888857252,
            0.00019841269898718955,
            2.4801587375797965e-05,
            2.755723255785573e-06,
            2.755723176535389e-07,
            2.511283135435686e-08,
            2.092740060081687e-09
        )
    }

    #[inline(always)]
    fn log_polynomial(fma: Fma, z: Self) -> Self {
        horner!(
            fma,
            z,
            0.6666666666666735,
            0.3999999999940175,
            0.2857142874682154,
            0.2222219799163183,
            0.18183600090400331,
            0.15313011564071982,
            0.1480745711935271
        )
    }

    #[inline(always)]
    fn erf_polynomial(fma: Fma, square: Self) -> Self {
        horner!(
            fma,
            square,
            0.1283791670955126,
            -0.3761263890318375,
            0.11283791670954885,
            -0.026866170645077875,
            0.005223977624828431,
            -0.0008548326981425542,
            0.0001205533113295582,
            -1.4925595772180906e-05,
            1.64610084778027e-06,
            -1.6350396222864617e-07,
            1.466032872274226e-08,
            -1.137495573607015e-09,
            5.960685338520971e-11
        )
    }

    #[inline(always)]
    fn erfc_polynomial(fma: Fma, v: Self) -> Self {
        horner!(
            fma,
            v,
            1.8496055099332482,
            2.638967514234791,
            0.8431072563585149,
            0.04156109804576188,
            -0.010033825424143664,
            0.0019779029405245755,
            -0.0002373242932522372,
            -2.6271829552443068e-05,
            2.7144735499900716e-05,
            -9.583893181368847e-06,
            2.027398054747866e-06,
            -1.1135294931231687e-07,
            -1.2073442991384987e-07,
            6.490020384686485e-08,
            -2.0245192541300295e-08,
            4.4879199704400485e-09,
            -7.197835810202423e-10,
            7.993428601554631e-11,
            -5.507659086092606e-12,
            1.771723775738139e-13
        )
    }
}

/// Restricts x to the interval from `low` to `high`. Returns NaN for NaN.
#[inline(always)]
pub(crate) fn clamp<T: Element>(x: T, low: T, high: T) -> T {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}
