//! Functions of scalars.

use std::f64::consts::PI;

use crate::graph::{BinaryOp, CompareOp, Kind, LogicOp, UnaryOp};
use crate::shorthand::exact_eq;

/// Returns whether a mask is true.
pub(super) fn truth(x: f64) -> bool {
    !exact_eq(x, 0.0)
}

pub(super) fn cast(kind: Kind, x: f64) -> f64 {
    match kind {
        Kind::Float => x,
        Kind::Int => x.trunc(),
        Kind::Mask => f64::from(truth(x)),
    }
}

pub(super) fn unary(op: UnaryOp, x: f64) -> f64 {
    match op {
        UnaryOp::Detach => x,
        UnaryOp::Neg => -x,
        UnaryOp::Affine { scale, shift } => scale.0 * x + shift.0,
        UnaryOp::Square => x * x,
        UnaryOp::Power(power) => x.powf(power.0),
        UnaryOp::Recip => x.recip(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign => {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                0.0
            }
        }
        UnaryOp::Relu => {
            if x < 0.0 {
                0.0
            } else {
                x
            }
        }
        UnaryOp::Exp => x.exp(),
        UnaryOp::Expm1 => x.exp_m1(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Log1p => x.ln_1p(),
        UnaryOp::Sigmoid => {
            let small = (-x.abs()).exp();
            (if x < 0.0 { small } else { 1.0 }) / (1.0 + small)
        }
        UnaryOp::LogSigmoid => (if x < 0.0 { x } else { 0.0 }) - (-x.abs()).exp().ln_1p(),
        UnaryOp::Erf => erf(x),
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
        UnaryOp::IsNan => f64::from(x.is_nan()),
        UnaryOp::IsInfinite => f64::from(x.is_infinite()),
        UnaryOp::Not => f64::from(!truth(x)),
    }
}

pub(super) fn binary(op: BinaryOp, integer: bool, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div if integer => (a / b).trunc(),
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a - b * (a / b).floor(),
        BinaryOp::Pow => a.powf(b),
        // For ties and NaN the result is the first operand, as in Burn's `max_pair` and `min_pair`.
        BinaryOp::Max => {
            if a < b {
                b
            } else {
                a
            }
        }
        BinaryOp::Min => {
            if b < a {
                b
            } else {
                a
            }
        }
        BinaryOp::Atan2 => a.atan2(b),
    }
}

pub(super) fn compare(op: CompareOp, a: f64, b: f64) -> bool {
    match op {
        CompareOp::Equal => exact_eq(a, b),
        CompareOp::NotEqual => !exact_eq(a, b),
        CompareOp::Greater => a > b,
        CompareOp::GreaterEqual => a >= b,
        CompareOp::Less => a < b,
        CompareOp::LessEqual => a <= b,
    }
}

pub(super) fn logic(op: LogicOp, a: f64, b: f64) -> bool {
    match op {
        LogicOp::And => truth(a) && truth(b),
        LogicOp::Or => truth(a) || truth(b),
        LogicOp::Xor => truth(a) != truth(b),
    }
}

/// Returns the error function. For |x| < 3, this is its series with positive terms, 2/√π e^(−x²) Σ 2ᵏ x^(2k+1) /
/// (2k+1)!!, and above the continued fraction of the complement.
pub fn erf(x: f64) -> f64 {
    let z = x.abs();
    let value = if z.is_nan() {
        z
    } else if z < 3.0 {
        let (mut term, mut sum, mut k) = (z, z, 0.0);
        while term > sum * f64::EPSILON * 0.1 {
            k += 1.0;
            term *= 2.0 * z * z / (2.0 * k + 1.0);
            sum += term;
        }
        2.0 / PI.sqrt() * (-z * z).exp() * sum
    } else if z < 6.0 {
        // erfc z = e^(−z²)/√π · 1/(z + (1/2)/(z + (2/2)/(z + (3/2)/(z + …)))).
        let tail = (1..60).rev().fold(z, |tail, k| z + f64::from(k) / 2.0 / tail);
        1.0 - (-z * z).exp() / PI.sqrt() / tail
    } else {
        1.0
    };
    value.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::erf;

    #[test]
    fn erf_known_values() {
        let known = [
            (0.0, 0.0),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (-2.0, -0.995_322_265_018_952_7),
            (3.5, 0.999_999_256_901_627_7),
        ];
        for (x, expected) in known {
            assert!((erf(x) - expected).abs() < 1e-15, "{x}: {} {expected}", erf(x));
        }
    }
}
