//! Compares the kernels with functions of the standard library in `f64`.

use super::super::testing::{LENGTHS, assert_close, numbers};
use super::*;
use crate::graph::{BinaryOp, CompareOp, LogicOp, Number, UnaryOp};

/// Powers that are tested in addition to the example of [`UnaryOp::ALL`].
const POWERS: [f64; 9] = [0.0, 1.0, 2.0, 5.0, -1.0, -2.0, 0.5, 1.7, -0.3];

fn unary_ops() -> impl Iterator<Item = UnaryOp> {
    UnaryOp::ALL.iter().copied().chain(POWERS.map(|power| UnaryOp::Power(Number(power))))
}

/// Returns f(x), computed by the standard library.
fn expected_unary(op: UnaryOp, x: f64) -> f64 {
    match op {
        UnaryOp::Detach => x,
        UnaryOp::Neg => -x,
        UnaryOp::Affine { scale, shift } => scale.0 * x + shift.0,
        UnaryOp::Square => x * x,
        UnaryOp::Power(power) => x.powf(power.0),
        UnaryOp::Recip => x.recip(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign if x == 0.0 => 0.0,
        UnaryOp::Sign => x.signum(),
        UnaryOp::Relu => x.max(0.0),
        UnaryOp::Exp => x.exp(),
        UnaryOp::Expm1 => x.exp_m1(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Log1p => x.ln_1p(),
        UnaryOp::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        UnaryOp::LogSigmoid => -(-x).exp().ln_1p(),
        UnaryOp::Erf => super::super::math::erf(Fma::with_hardware(true), x),
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tan => x.tan(),
        UnaryOp::Asin => x.asin(),
        UnaryOp::Acos => x.acos(),
        UnaryOp::Atan => x.atan(),
        UnaryOp::Sinh => x.sinh(),
        UnaryOp::Cosh => x.cosh(),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::Asinh => x.asinh(),
        UnaryOp::Acosh => x.acosh(),
        UnaryOp::Atanh => x.atanh(),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::Trunc => x.trunc(),
        UnaryOp::IsNan | UnaryOp::IsInfinite => 0.0,
        UnaryOp::Not => f64::from(x == 0.0),
    }
}

/// Maps a number in (−3, 3) to the domain of an operation, away from its poles.
fn argument<T: Element>(op: UnaryOp, x: T) -> T {
    let positive = x.abs() + T::from_f64(0.01);
    match op {
        UnaryOp::Sqrt | UnaryOp::Log | UnaryOp::Log1p => positive,
        UnaryOp::Tan | UnaryOp::Asin | UnaryOp::Acos | UnaryOp::Atanh => x * T::from_f64(0.3),
        UnaryOp::Acosh | UnaryOp::Recip => positive + T::ONE,
        UnaryOp::Power(power) if power.0 < 0.0 => positive + T::ONE,
        UnaryOp::Power(power) if power.0.fract() > 0.0 => positive,
        _ => x,
    }
}

fn unary_works<T: Element>(simd: Simd) {
    for length in LENGTHS {
        for op in unary_ops() {
            let x: Vec<T> = numbers::<T>(1, length).iter().map(|x| argument(op, *x)).collect();
            let mut out = vec![T::NAN; length];
            unary(simd, op, &x, &mut out);
            let expected: Vec<f64> = x.iter().map(|x| expected_unary(op, x.to_f64())).collect();
            let scale = expected.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
            assert_close(&out, &expected, scale, &format!("{op:?} of {length}"));
        }
    }
}

#[test]
fn unary_operations() {
    for simd in Simd::all() {
        unary_works::<f32>(simd);
        unary_works::<f64>(simd);
    }
}

type Pair<'a> = &'a dyn Fn(f64, f64) -> f64;
type Zip<'a, T> = &'a dyn Fn(Operand<'_, T>, Operand<'_, T>, &mut [T]);

/// Tests all combinations of slices and single numbers.
fn zip_works<T: Element>(a: &[T], b: &[T], f: Pair<'_>, kernel: Zip<'_, T>, what: &str) {
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

fn expected_binary(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a - b * (a / b).floor(),
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Min => a.min(b),
        BinaryOp::Atan2 => a.atan2(b),
    }
}

#[expect(clippy::float_cmp, reason = "comparisons are what is tested")]
fn expected_compare(op: CompareOp, a: f64, b: f64) -> f64 {
    f64::from(match op {
        CompareOp::Equal => a == b,
        CompareOp::NotEqual => a != b,
        CompareOp::Greater => a > b,
        CompareOp::GreaterEqual => a >= b,
        CompareOp::Less => a < b,
        CompareOp::LessEqual => a <= b,
    })
}

fn expected_logic(op: LogicOp, a: f64, b: f64) -> f64 {
    let (a, b) = (a != 0.0, b != 0.0);
    f64::from(match op {
        LogicOp::And => a && b,
        LogicOp::Or => a || b,
        LogicOp::Xor => a != b,
    })
}

fn binary_works<T: Element>(simd: Simd) {
    for length in LENGTHS {
        let (a, b) = (numbers::<T>(1, length), numbers::<T>(2, length));
        let size: Vec<T> = a.iter().map(|a| a.abs()).collect();
        for op in BinaryOp::ALL.iter().copied() {
            let a = if op == BinaryOp::Pow { &size } else { &a };
            let expected = |a, b| expected_binary(op, a, b);
            zip_works(a, &b, &expected, &|a, b, out| binary(simd, op, a, b, out), &format!("{op:?}"));
        }
        // Integers, so that some numbers are equal and some are zero.
        let (a, b): (Vec<T>, Vec<T>) = a.iter().zip(&b).map(|(a, b)| (a.round(), b.round())).unzip();
        for op in CompareOp::ALL.iter().copied() {
            let expected = |a, b| expected_compare(op, a, b);
            zip_works(&a, &b, &expected, &|a, b, out| compare(simd, op, a, b, out), &format!("{op:?}"));
        }
        for op in LogicOp::ALL.iter().copied() {
            let expected = |a, b| expected_logic(op, a, b);
            zip_works(&a, &b, &expected, &|a, b, out| logic(simd, op, a, b, out), &format!("{op:?}"));
        }
    }
}

#[test]
fn binary_operations() {
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
fn choices() {
    for simd in Simd::all() {
        choice_works::<f32>(simd);
        choice_works::<f64>(simd);
    }
}

#[test]
fn nan_and_infinity() {
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
        // For NaN the result is the first operand.
        binary(simd, op, Operand::Splat(1.0), Operand::Slice(&x), &mut out);
        assert!((out[0] - 1.0).abs() < 1e-15);
    }
}

fn blocks_work<T: Element>(simd: Simd) {
    let mut functions: Vec<Function> = unary_ops().map(Function::Unary).collect();
    functions.extend(BinaryOp::ALL.iter().copied().map(Function::Binary));
    functions.extend(CompareOp::ALL.iter().copied().map(Function::Compare));
    functions.extend(LogicOp::ALL.iter().copied().map(Function::Logic));
    functions.extend([Function::Where, Function::Copy]);
    let [any, b, c] = [1, 2, 3].map(|seed| <[T; LANES]>::try_from(numbers::<T>(seed, LANES)).unwrap());
    for function in functions {
        // NaN would not be equal to itself.
        let a = match function {
            Function::Unary(op) => any.map(|x| argument(op, x)),
            Function::Binary(BinaryOp::Pow) => any.map(|x| x.abs()),
            _ => any,
        };
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
fn blocks_agree_with_slices() {
    for simd in Simd::all() {
        blocks_work::<f32>(simd);
        blocks_work::<f64>(simd);
    }
}
