//! Against the functions of the standard library in `f64`.

use super::super::testing::{LENGTHS, assert_close, numbers};
use super::*;
use crate::graph::{BinaryOp, CompareOp, LogicOp, Number, UnaryOp};

type Unary = (UnaryOp, fn(f64) -> f64);

fn unary_ops() -> Vec<Unary> {
    vec![
        (UnaryOp::Detach, |x| x),
        (UnaryOp::Neg, |x| -x),
        (UnaryOp::Affine { scale: Number(2.5), shift: Number(-0.75) }, |x| 2.5 * x - 0.75),
        (UnaryOp::Square, |x| x * x),
        (UnaryOp::Power(Number(0.0)), |_| 1.0),
        (UnaryOp::Power(Number(1.0)), |x| x),
        (UnaryOp::Power(Number(2.0)), |x| x * x),
        (UnaryOp::Power(Number(3.0)), |x| x * x * x),
        (UnaryOp::Power(Number(5.0)), |x| x.powi(5)),
        (UnaryOp::Relu, |x| x.max(0.0)),
        (UnaryOp::Abs, f64::abs),
        (UnaryOp::Sign, |x| if x == 0.0 { 0.0 } else { x.signum() }),
        (UnaryOp::Exp, f64::exp),
        (UnaryOp::Expm1, f64::exp_m1),
        (UnaryOp::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (UnaryOp::LogSigmoid, |x| -(-x).exp().ln_1p()),
        (UnaryOp::Erf, |x| super::super::math::erf(Fma::of(true), x)),
        (UnaryOp::Sin, f64::sin),
        (UnaryOp::Cos, f64::cos),
        (UnaryOp::Atan, f64::atan),
        (UnaryOp::Sinh, f64::sinh),
        (UnaryOp::Cosh, f64::cosh),
        (UnaryOp::Tanh, f64::tanh),
        (UnaryOp::Asinh, f64::asinh),
        (UnaryOp::Floor, f64::floor),
        (UnaryOp::Ceil, f64::ceil),
        (UnaryOp::Round, f64::round_ties_even),
        (UnaryOp::Trunc, f64::trunc),
        (UnaryOp::IsNan, |_| 0.0),
        (UnaryOp::IsInfinite, |_| 0.0),
        (UnaryOp::Not, |x| f64::from(x == 0.0)),
    ]
}

/// Those of positive numbers, and those of numbers up to one.
fn restricted_ops() -> [Vec<Unary>; 2] {
    [
        vec![
            (UnaryOp::Power(Number(1.7)), |x| x.powf(1.7)),
            (UnaryOp::Power(Number(0.5)), f64::sqrt),
            (UnaryOp::Sqrt, f64::sqrt),
            (UnaryOp::Log, f64::ln),
            (UnaryOp::Log1p, f64::ln_1p),
        ],
        vec![
            (UnaryOp::Tan, f64::tan),
            (UnaryOp::Asin, f64::asin),
            (UnaryOp::Acos, f64::acos),
            (UnaryOp::Atanh, f64::atanh),
        ],
    ]
}

fn unary_works<T: Element>(simd: Simd) {
    for length in LENGTHS {
        let any = numbers::<T>(1, length);
        let positive: Vec<T> = any.iter().map(|x| x.abs() + T::from_f64(0.01)).collect();
        let fraction: Vec<T> = any.iter().map(|x| *x * T::from_f64(0.3)).collect();
        let above_one: Vec<T> = positive.iter().map(|x| *x + T::ONE).collect();
        let [of_positive, of_fraction] = restricted_ops();
        let of_above_one: Vec<Unary> = vec![
            (UnaryOp::Acosh, f64::acosh),
            (UnaryOp::Recip, f64::recip),
            (UnaryOp::Power(Number(-1.0)), f64::recip),
            (UnaryOp::Power(Number(-2.0)), |x| 1.0 / (x * x)),
        ];
        let families =
            [(any, unary_ops()), (positive, of_positive), (fraction, of_fraction), (above_one, of_above_one)];
        for (x, ops) in families {
            for (op, f) in ops {
                let mut out = vec![T::NAN; length];
                unary(simd, op, &x, &mut out);
                let expected: Vec<f64> = x.iter().map(|x| f(x.to_f64())).collect();
                let scale = expected.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
                assert_close(&out, &expected, scale, &format!("{op:?} of {length}"));
            }
        }
    }
}

#[test]
fn functions_of_one_number() {
    for simd in Simd::all() {
        unary_works::<f32>(simd);
        unary_works::<f64>(simd);
    }
}

type Pair = fn(f64, f64) -> f64;
type Zip<'a, T> = &'a dyn Fn(Operand<'_, T>, Operand<'_, T>, &mut [T]);

/// All combinations of slices and single numbers.
fn zip_works<T: Element>(a: &[T], b: &[T], f: Pair, kernel: Zip<'_, T>, what: &str) {
    let (first, second) = (T::from_f64(1.5), T::from_f64(-0.5));
    let at = |x: &Operand<'_, T>, i: usize| match x {
        Operand::Slice(x) => x[i].to_f64(),
        Operand::Splat(x) => x.to_f64(),
    };
    for left in [Operand::Slice(a), Operand::Splat(first)] {
        for right in [Operand::Slice(b), Operand::Splat(second)] {
            let mut out = vec![T::NAN; a.len()];
            kernel(left, right, &mut out);
            let expected: Vec<f64> = (0..a.len()).map(|i| f(at(&left, i), at(&right, i))).collect();
            let scale = expected.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
            assert_close(&out, &expected, scale, what);
        }
    }
}

#[expect(clippy::float_cmp, reason = "comparisons are what is tested")]
fn binary_works<T: Element>(simd: Simd) {
    let ops: [(BinaryOp, Pair); 8] = [
        (BinaryOp::Add, |a, b| a + b),
        (BinaryOp::Sub, |a, b| a - b),
        (BinaryOp::Mul, |a, b| a * b),
        (BinaryOp::Div, |a, b| a / b),
        (BinaryOp::Rem, |a, b| a - b * (a / b).floor()),
        (BinaryOp::Max, f64::max),
        (BinaryOp::Min, f64::min),
        (BinaryOp::Atan2, f64::atan2),
    ];
    let compares: [(CompareOp, Pair); 6] = [
        (CompareOp::Equal, |a, b| f64::from(a == b)),
        (CompareOp::NotEqual, |a, b| f64::from(a != b)),
        (CompareOp::Greater, |a, b| f64::from(a > b)),
        (CompareOp::GreaterEqual, |a, b| f64::from(a >= b)),
        (CompareOp::Less, |a, b| f64::from(a < b)),
        (CompareOp::LessEqual, |a, b| f64::from(a <= b)),
    ];
    let logics: [(LogicOp, Pair); 3] = [
        (LogicOp::And, |a, b| f64::from(a != 0.0 && b != 0.0)),
        (LogicOp::Or, |a, b| f64::from(a != 0.0 || b != 0.0)),
        (LogicOp::Xor, |a, b| f64::from((a != 0.0) != (b != 0.0))),
    ];
    for length in LENGTHS {
        let (a, b) = (numbers::<T>(1, length), numbers::<T>(2, length));
        let size: Vec<T> = a.iter().map(|a| a.abs()).collect();
        for (op, f) in ops {
            zip_works(&a, &b, f, &|a, b, out| binary(simd, op, a, b, out), &format!("{op:?}"));
        }
        zip_works(&size, &b, f64::powf, &|a, b, out| binary(simd, BinaryOp::Pow, a, b, out), "pow");
        // Integers, so that some are equal and some zero.
        let (a, b): (Vec<T>, Vec<T>) = a.iter().zip(&b).map(|(a, b)| (a.round(), b.round())).unzip();
        for (op, f) in compares {
            zip_works(&a, &b, f, &|a, b, out| compare(simd, op, a, b, out), &format!("{op:?}"));
        }
        for (op, f) in logics {
            zip_works(&a, &b, f, &|a, b, out| logic(simd, op, a, b, out), &format!("{op:?}"));
        }
    }
}

#[test]
fn functions_of_two_numbers() {
    for simd in Simd::all() {
        binary_works::<f32>(simd);
        binary_works::<f64>(simd);
    }
}

fn choice_works<T: Element>(simd: Simd) {
    for length in LENGTHS {
        let mask: Vec<T> = numbers::<T>(3, length).iter().map(|x| T::mask(*x > T::ZERO)).collect();
        let (a, b) = (numbers::<T>(1, length), numbers::<T>(2, length));
        for chosen in [Operand::Slice(&mask), Operand::Splat(T::ONE), Operand::Splat(T::ZERO)] {
            for left in [Operand::Slice(&a), Operand::Splat(T::HALF)] {
                for right in [Operand::Slice(&b), Operand::Splat(-T::HALF)] {
                    let mut out = vec![T::NAN; length];
                    select_where(simd, chosen, left, right, &mut out);
                    let at = |x: &Operand<'_, T>, i: usize| match x {
                        Operand::Slice(x) => x[i],
                        Operand::Splat(x) => *x,
                    };
                    let expected: Vec<T> =
                        (0..length).map(|i| at(if at(&chosen, i).is_true() { &left } else { &right }, i)).collect();
                    assert_eq!(out, expected);
                }
            }
        }
    }
}

#[test]
fn choices_between_two() {
    for simd in Simd::all() {
        choice_works::<f32>(simd);
        choice_works::<f64>(simd);
    }
}

#[test]
fn what_is_not_a_number_stays_so() {
    let simd = Simd::new();
    let x = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0];
    let mut out = [7.0; 4];
    unary(simd, UnaryOp::IsNan, &x, &mut out);
    assert_eq!(out.map(|x| x as i32), [1, 0, 0, 0]);
    unary(simd, UnaryOp::IsInfinite, &x, &mut out);
    assert_eq!(out.map(|x| x as i32), [0, 1, 1, 0]);
    unary(simd, UnaryOp::Sign, &x, &mut out);
    assert_eq!(out.map(|x| x as i32), [0, 1, -1, 0]);
    for op in [UnaryOp::Relu, UnaryOp::Exp] {
        unary(simd, op, &x, &mut out);
        assert!(out[0].is_nan() && !out[1..].iter().any(|x| x.is_nan()));
    }
    for op in [BinaryOp::Max, BinaryOp::Min] {
        binary(simd, op, Operand::Slice(&x), Operand::Splat(1.0), &mut out);
        assert!(out[0].is_nan());
        // Of numbers without an order the first.
        binary(simd, op, Operand::Splat(1.0), Operand::Slice(&x), &mut out);
        assert!((out[0] - 1.0).abs() < 1e-15);
    }
}

fn blocks_work<T: Element>(simd: Simd) {
    let mut functions: Vec<Function> = unary_ops().iter().map(|(op, _)| Function::Unary(*op)).collect();
    let binary_ops = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Max, BinaryOp::Min];
    functions.extend(binary_ops.map(Function::Binary));
    functions.extend([CompareOp::Less, CompareOp::GreaterEqual, CompareOp::NotEqual].map(Function::Compare));
    functions.extend([LogicOp::And, LogicOp::Or, LogicOp::Xor].map(Function::Logic));
    functions.extend([Function::Where, Function::Copy]);
    let [a, b, c] = [1, 2, 3].map(|seed| <[T; LANES]>::try_from(numbers::<T>(seed, LANES)).unwrap());
    for function in functions {
        let mut blocks = [a, b, c, [T::NAN; LANES]];
        run_steps(simd, &[Step { function, operands: [0, 1, 2], out: 3 }], &mut blocks);
        let mut expected = [T::NAN; LANES];
        let [x, y, z] = [&a, &b, &c].map(|values| Operand::Slice(values.as_slice()));
        match function {
            Function::Copy => expected = a,
            Function::Unary(op) => unary(simd, op, &a, &mut expected),
            Function::Binary(op) => binary(simd, op, x, y, &mut expected),
            Function::Compare(op) => compare(simd, op, x, y, &mut expected),
            Function::Logic(op) => logic(simd, op, x, y, &mut expected),
            Function::Where => select_where(simd, x, y, z, &mut expected),
        }
        assert!(blocks[3] == expected && blocks[..3] == [a, b, c], "{function:?}");
    }
}

#[test]
fn blocks_are_as_slices() {
    for simd in Simd::all() {
        blocks_work::<f32>(simd);
        blocks_work::<f64>(simd);
    }
}
