//! Adjoints of element-wise operations: g f'(x), expressed by y = f(x) if possible.

use std::f64::consts::PI;

use crate::error::Result;
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, NodeId, Number, UnaryOp};
use crate::shorthand::exact_eq;

/// Returns the adjoint of x in y = f(x).
pub(super) fn unary(graph: &mut Graph, op: UnaryOp, x: NodeId, y: NodeId, g: NodeId) -> Result<Option<NodeId>> {
    let part = match op {
        UnaryOp::Neg => graph.neg(g),
        UnaryOp::Affine { scale, .. } => graph.affine(g, scale.0, 0.0),
        UnaryOp::Square => {
            let slope = graph.affine(x, 2.0, 0.0);
            graph.mul(g, slope)?
        }
        UnaryOp::Power(power) => return power_of(graph, x, power.0, g),
        UnaryOp::Recip => {
            let square = graph.unary(UnaryOp::Square, y);
            let part = graph.mul(g, square)?;
            graph.neg(part)
        }
        UnaryOp::Sqrt => {
            let part = graph.div(g, y)?;
            graph.affine(part, 0.5, 0.0)
        }
        UnaryOp::Abs => {
            let sign = graph.unary(UnaryOp::Sign, x);
            graph.mul(g, sign)?
        }
        UnaryOp::Relu => {
            let zero = graph.scalar(0.0);
            let mask = graph.compare(CompareOp::Greater, x, zero)?;
            graph.select_where(mask, g, zero)?
        }
        UnaryOp::Exp => graph.mul(g, y)?,
        UnaryOp::Expm1 => {
            let slope = graph.affine(y, 1.0, 1.0);
            graph.mul(g, slope)?
        }
        UnaryOp::Log => graph.div(g, x)?,
        UnaryOp::Log1p => {
            let below = graph.affine(x, 1.0, 1.0);
            graph.div(g, below)?
        }
        UnaryOp::Sigmoid => {
            let other = graph.affine(y, -1.0, 1.0);
            let slope = graph.mul(y, other)?;
            graph.mul(g, slope)?
        }
        UnaryOp::LogSigmoid => {
            let opposite = graph.neg(x);
            let slope = graph.unary(UnaryOp::Sigmoid, opposite);
            graph.mul(g, slope)?
        }
        UnaryOp::Erf => {
            let square = graph.unary(UnaryOp::Square, x);
            let exponent = graph.neg(square);
            let slope = graph.unary(UnaryOp::Exp, exponent);
            let part = graph.mul(g, slope)?;
            graph.affine(part, 2.0 / PI.sqrt(), 0.0)
        }
        UnaryOp::Sin => {
            let slope = graph.unary(UnaryOp::Cos, x);
            graph.mul(g, slope)?
        }
        UnaryOp::Cos => {
            let slope = graph.unary(UnaryOp::Sin, x);
            let part = graph.mul(g, slope)?;
            graph.neg(part)
        }
        UnaryOp::Sinh => {
            let slope = graph.unary(UnaryOp::Cosh, x);
            graph.mul(g, slope)?
        }
        UnaryOp::Cosh => {
            let slope = graph.unary(UnaryOp::Sinh, x);
            graph.mul(g, slope)?
        }
        // tan' = 1 + tan², tanh' = 1 − tanh².
        UnaryOp::Tan | UnaryOp::Tanh => {
            let square = graph.unary(UnaryOp::Square, y);
            let slope = graph.affine(square, if op == UnaryOp::Tan { 1.0 } else { -1.0 }, 1.0);
            graph.mul(g, slope)?
        }
        // 1/√(1 − x²), −1/√(1 − x²), 1/√(1 + x²), 1/√(x² − 1).
        UnaryOp::Asin => over_root(graph, x, g, -1.0, 1.0)?,
        UnaryOp::Acos => {
            let part = over_root(graph, x, g, -1.0, 1.0)?;
            graph.neg(part)
        }
        UnaryOp::Asinh => over_root(graph, x, g, 1.0, 1.0)?,
        UnaryOp::Acosh => over_root(graph, x, g, 1.0, -1.0)?,
        // 1/(1 + x²), 1/(1 − x²).
        UnaryOp::Atan | UnaryOp::Atanh => {
            let square = graph.unary(UnaryOp::Square, x);
            let below = graph.affine(square, if op == UnaryOp::Atan { 1.0 } else { -1.0 }, 1.0);
            graph.div(g, below)?
        }
        UnaryOp::Detach
        | UnaryOp::Sign
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Trunc
        | UnaryOp::IsNan
        | UnaryOp::IsInfinite
        | UnaryOp::Not => return Ok(None),
    };
    Ok(Some(part))
}

/// Returns g / √(scale · x² + shift).
fn over_root(graph: &mut Graph, x: NodeId, g: NodeId, scale: f64, shift: f64) -> Result<NodeId> {
    let square = graph.unary(UnaryOp::Square, x);
    let inside = graph.affine(square, scale, shift);
    let root = graph.unary(UnaryOp::Sqrt, inside);
    graph.div(g, root)
}

/// Returns g c x^(c−1).
fn power_of(graph: &mut Graph, x: NodeId, power: f64, g: NodeId) -> Result<Option<NodeId>> {
    if exact_eq(power, 0.0) {
        return Ok(None);
    }
    if exact_eq(power, 1.0) {
        return Ok(Some(g));
    }
    let lower = if exact_eq(power, 2.0) { x } else { graph.unary(UnaryOp::Power(Number(power - 1.0)), x) };
    let part = graph.mul(g, lower)?;
    Ok(Some(graph.affine(part, power, 0.0)))
}

/// Returns the required adjoints of a and b in y = f(a, b).
pub(super) fn binary(
    graph: &mut Graph,
    op: BinaryOp,
    inputs: &[NodeId],
    y: NodeId,
    g: NodeId,
    required: &[bool],
) -> Result<Vec<Option<NodeId>>> {
    let (a, b) = (inputs[0], inputs[1]);
    let (first, second) = (required[0], required[1]);
    let mut parts = vec![None, None];
    match op {
        BinaryOp::Add => parts = vec![Some(g), Some(g)],
        BinaryOp::Sub => parts = vec![Some(g), second.then(|| graph.neg(g))],
        BinaryOp::Mul => {
            if first {
                parts[0] = Some(graph.mul(g, b)?);
            }
            if second {
                parts[1] = Some(graph.mul(g, a)?);
            }
        }
        BinaryOp::Div => {
            let part = graph.div(g, b)?;
            if second {
                let product = graph.mul(part, y)?;
                parts[1] = Some(graph.neg(product));
            }
            parts[0] = Some(part);
        }
        BinaryOp::Rem => {
            if second {
                let ratio = graph.div(a, b)?;
                let floor = graph.unary(UnaryOp::Floor, ratio);
                let product = graph.mul(g, floor)?;
                parts[1] = Some(graph.neg(product));
            }
            parts[0] = Some(g);
        }
        BinaryOp::Max | BinaryOp::Min => {
            // At ties the whole adjoint goes to a.
            let compare = if op == BinaryOp::Max { CompareOp::Less } else { CompareOp::Greater };
            let mask = graph.compare(compare, a, b)?;
            let zero = graph.scalar(0.0);
            if first {
                parts[0] = Some(graph.select_where(mask, zero, g)?);
            }
            if second {
                parts[1] = Some(graph.select_where(mask, g, zero)?);
            }
        }
        BinaryOp::Atan2 => {
            let (left, right) = (graph.unary(UnaryOp::Square, a), graph.unary(UnaryOp::Square, b));
            let below = graph.add(left, right)?;
            let part = graph.div(g, below)?;
            if first {
                parts[0] = Some(graph.mul(part, b)?);
            }
            if second {
                let product = graph.mul(part, a)?;
                parts[1] = Some(graph.neg(product));
            }
        }
        BinaryOp::Pow => {
            if first {
                parts[0] = base_adjoint(graph, a, b, g)?;
            }
            if second {
                parts[1] = Some(exponent_adjoint(graph, a, y, g)?);
            }
        }
    }
    Ok(parts)
}

/// Returns g b a^(b−1), and zero where b is zero, even at a = 0.
fn base_adjoint(graph: &mut Graph, a: NodeId, b: NodeId, g: NodeId) -> Result<Option<NodeId>> {
    if let Some(power) = graph.number(b) {
        return power_of(graph, a, power, g);
    }
    let zero = graph.scalar(0.0);
    let lower = graph.affine(b, 1.0, -1.0);
    let power = graph.binary(BinaryOp::Pow, a, lower)?;
    let slope = graph.mul(b, power)?;
    let none = graph.compare(CompareOp::Equal, b, zero)?;
    let slope = graph.select_where(none, zero, slope)?;
    Ok(Some(graph.mul(g, slope)?))
}

/// Returns g y log a, and zero where a is zero.
fn exponent_adjoint(graph: &mut Graph, a: NodeId, y: NodeId, g: NodeId) -> Result<NodeId> {
    let (zero, one) = (graph.scalar(0.0), graph.scalar(1.0));
    let none = graph.compare(CompareOp::Equal, a, zero)?;
    let safe = graph.select_where(none, one, a)?;
    let log = graph.unary(UnaryOp::Log, safe);
    let slope = graph.mul(y, log)?;
    graph.mul(g, slope)
}

/// Returns the adjoints of mask, a and b in `mask ? a : b`.
pub(super) fn choice(
    graph: &mut Graph,
    inputs: &[NodeId],
    g: NodeId,
    required: &[bool],
) -> Result<Vec<Option<NodeId>>> {
    let zero = graph.full(0.0, [], Kind::Float);
    let mut parts = vec![None; 3];
    if required[1] {
        parts[1] = Some(graph.select_where(inputs[0], g, zero)?);
    }
    if required[2] {
        parts[2] = Some(graph.select_where(inputs[0], zero, g)?);
    }
    Ok(parts)
}
