//! Errors in units in the last place (ulp): of `f32` against `f64`, and of `f64` against numbers computed with 60
//! digits.

use super::super::simd::Fma;
use super::table::{ERF, EXP, EXPM1, LOG, LOG_SIGMOID, LOG1P, Point, SIGMOID, TANH};
use super::*;

/// Returns both variants of the multiply-add.
fn both() -> [Fma; 2] {
    [Fma::with_hardware(true), Fma::with_hardware(false)]
}

/// Returns the error in units in the last place of `f32`.
fn single_error(found: f32, expected: f64) -> f64 {
    let nearest = expected as f32;
    if found.is_nan() || expected.is_nan() {
        return if found.is_nan() && expected.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found.is_infinite() || nearest.is_infinite() {
        return if found.to_bits() == nearest.to_bits() { 0.0 } else { f64::INFINITY };
    }
    let exponent = expected.abs().log2().floor().max(-126.0);
    (f64::from(found) - expected).abs() / (exponent - 23.0).exp2()
}

/// Returns the largest error over `f32` from all binades and, more densely, from −30 to 30.
fn largest_single_error(f: impl Fn(Fma, f32) -> f32, expected: impl Fn(f64) -> f64) -> f64 {
    let all = (0..u32::MAX).step_by(60_013).map(f32::from_bits);
    let usual = (-15_000..15_000).map(|i| i as f32 * 0.001_997_7 + 1e-5);
    let mut largest: f64 = 0.0;
    for x in all.chain(usual) {
        for fma in both() {
            let error = single_error(f(fma, x), expected(f64::from(x)));
            assert!(error < 1e3, "{x:e}: {:e} for {:e}", f(fma, x), expected(f64::from(x)));
            largest = largest.max(error);
        }
    }
    largest
}

fn largest_double_error(f: impl Fn(Fma, f64) -> f64, points: &[Point]) -> f64 {
    let mut largest: f64 = 0.0;
    for (x, high, low) in points {
        let exponent = high.abs().log2().floor().max(-1022.0);
        // The spacing is computed in two steps, because that of subnormal numbers is subnormal.
        let spacing = (exponent / 2.0).floor().exp2() * ((exponent - (exponent / 2.0).floor()) - 52.0).exp2();
        for fma in both() {
            let error = ((f(fma, *x) - high) - low).abs() / spacing;
            assert!(error < 1e3, "{x:e}: {:e} for {high:e}", f(fma, *x));
            largest = largest.max(error);
        }
    }
    largest
}

fn log_sigmoid_of(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

#[test]
fn single_precision_is_within_two_ulp() {
    let errors = [
        ("exp", largest_single_error(exp, f64::exp)),
        ("expm1", largest_single_error(expm1, f64::exp_m1)),
        ("log", largest_single_error(log, f64::ln)),
        ("log1p", largest_single_error(log1p, f64::ln_1p)),
    ];
    println!("{errors:?}");
    assert!(errors.iter().all(|(_, error)| *error <= 2.0), "{errors:?}");
}

#[test]
fn single_precision_compositions_are_within_four_ulp() {
    let errors = [
        ("sigmoid", largest_single_error(sigmoid, |x| 1.0 / (1.0 + (-x).exp()))),
        ("log_sigmoid", largest_single_error(log_sigmoid, log_sigmoid_of)),
        ("tanh", largest_single_error(tanh, f64::tanh)),
        ("erf", largest_single_error(erf, |x| erf(Fma::with_hardware(true), x))),
    ];
    println!("{errors:?}");
    assert!(errors.iter().all(|(_, error)| *error <= 4.0), "{errors:?}");
}

#[test]
fn double_precision_is_within_two_ulp() {
    let errors = [
        ("exp", largest_double_error(exp, &EXP)),
        ("expm1", largest_double_error(expm1, &EXPM1)),
        ("log", largest_double_error(log, &LOG)),
        ("log1p", largest_double_error(log1p, &LOG1P)),
    ];
    println!("{errors:?}");
    assert!(errors.iter().all(|(_, error)| *error <= 2.0), "{errors:?}");
}

#[test]
fn double_precision_compositions_are_within_four_ulp() {
    let errors = [
        ("sigmoid", largest_double_error(sigmoid, &SIGMOID)),
        ("log_sigmoid", largest_double_error(log_sigmoid, &LOG_SIGMOID)),
        ("tanh", largest_double_error(tanh, &TANH)),
        ("erf", largest_double_error(erf, &ERF)),
    ];
    println!("{errors:?}");
    assert!(errors.iter().all(|(_, error)| *error <= 4.0), "{errors:?}");
}

/// Compares with the standard library, whose errors are below one ulp, over all binades.
#[test]
fn double_precision_is_near_the_standard_library() {
    let points = (0..u64::MAX).step_by(900_000_000_000_011).map(f64::from_bits);
    let usual = (-20_000..20_000).map(|i| f64::from(i) * 0.001_999_77 + 1e-6);
    for x in points.chain(usual) {
        for fma in both() {
            let pairs = [
                ("exp", exp(fma, x), x.exp()),
                ("expm1", expm1(fma, x), x.exp_m1()),
                ("log", log(fma, x), x.ln()),
                ("log1p", log1p(fma, x), x.ln_1p()),
                ("tanh", tanh(fma, x), x.tanh()),
                ("log_sigmoid", log_sigmoid(fma, x), log_sigmoid_of(x)),
            ];
            for (name, found, expected) in pairs {
                let near = (found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs() + f64::from_bits(2);
                let same = found.is_nan() && expected.is_nan() || found.total_cmp(&expected).is_eq();
                assert!(near || same, "{name}({x:e}) = {found:e}, not {expected:e}");
            }
        }
    }
}

#[test]
fn limits_and_nan() {
    fn check<T: super::super::Element>() {
        let (infinity, nan) = (T::INFINITY, T::NAN);
        for fma in both() {
            let same = |found: T, expected: f64| assert_eq!(found.to_f64().to_bits(), expected.to_bits());
            same(exp(fma, -infinity), 0.0);
            same(exp(fma, infinity), f64::INFINITY);
            same(exp(fma, T::ZERO), 1.0);
            same(expm1(fma, -infinity), -1.0);
            same(expm1(fma, infinity), f64::INFINITY);
            same(expm1(fma, -T::ZERO), -0.0);
            same(log(fma, T::ZERO), f64::NEG_INFINITY);
            same(log(fma, -T::ZERO), f64::NEG_INFINITY);
            same(log(fma, T::ONE), 0.0);
            same(log(fma, infinity), f64::INFINITY);
            same(log1p(fma, -T::ONE), f64::NEG_INFINITY);
            same(log1p(fma, infinity), f64::INFINITY);
            same(log1p(fma, -T::ZERO), -0.0);
            same(sigmoid(fma, -infinity), 0.0);
            same(sigmoid(fma, infinity), 1.0);
            same(log_sigmoid(fma, -infinity), f64::NEG_INFINITY);
            same(log_sigmoid(fma, infinity), 0.0);
            same(tanh(fma, -infinity), -1.0);
            same(tanh(fma, -T::ZERO), -0.0);
            same(erf(fma, infinity), 1.0);
            same(erf(fma, -infinity), -1.0);
            for f in [exp, expm1, log, log1p, sigmoid, log_sigmoid, tanh, erf] {
                assert!(f(fma, nan).to_f64().is_nan());
            }
            for x in [-T::HALF, -infinity] {
                assert!(log(fma, x).to_f64().is_nan());
            }
            assert!(log1p(fma, -(T::ONE + T::HALF)).to_f64().is_nan());
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn powers() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1e-40,
        2.5e9,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        0.1,
        7.3,
        -7.0,
        33.25,
        88.0,
        1e30,
    ];
    for a in special {
        for b in special {
            let expected = f64::from(a).powf(f64::from(b));
            for fma in both() {
                let error = single_error(pow(fma, a, b), expected);
                assert!(error <= 0.51, "{a:e}^{b:e} = {:e}, not {expected:e}", pow(fma, a, b));
                let double = pow(fma, f64::from(a), f64::from(b));
                assert!(double.is_nan() && expected.is_nan() || double.to_bits() == expected.to_bits());
            }
        }
    }
    for i in 0..30_000 {
        let (a, b) = (i as f32 * 0.013 + 0.01, (i % 201) as f32 * 0.17 - 17.0);
        let error = single_error(pow(Fma::with_hardware(true), a, b), f64::from(a).powf(f64::from(b)));
        assert!(error <= 0.51, "{a}^{b}");
    }
}
