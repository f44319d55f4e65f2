//! Element-wise operations: g f'(x), with y = f(x) used where it is already there.

use std::f64::consts::PI;

use crate::error::Result;
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, NodeId, Number, UnaryOp};
use crate::shorthand::is;

/// The adjoint of x in y = f(x).
pub(super) fn unary(graph: &mut Graph, op: UnaryOp, x: NodeId, y: NodeId, g: NodeId) -> Result<Option<NodeId>> {
    let part = match op {
        UnaryOp::Neg => graph.negative(g),
        UnaryOp::Affine { scale, .. } => graph.affine(g, scale.0, 0.0),
        UnaryOp::Square => {
            let slope = graph.affine(x, 2.0, 0.0);
            graph.mul_of(g, slope)?
        }
        UnaryOp::Power(power) => return power_of(graph, x, power.0, g),
        UnaryOp::Recip => {
            let square = graph.unary(UnaryOp::Square, y);
            let part = graph.mul_of(g, square)?;
            graph.negative(part)
        }
        UnaryOp::Sqrt => {
            let part = graph.div_of(g, y)?;
            graph.affine(part, 0.5, 0.0)
        }
        UnaryOp::Abs => {
            let sign = graph.unary(UnaryOp::Sign, x);
            graph.mul_of(g, sign)?
        }
        UnaryOp::Relu => {
            let zero = graph.scalar(0.0);
            let mask = graph.compare(CompareOp::Greater, x, zero)?;
            graph.select_where(mask, g, zero)?
        }
        UnaryOp::Exp => graph.mul_of(g, y)?,
        UnaryOp::Expm1 => {
            let slope = graph.affine(y, 1.0, 1.0);
            graph.mul_of(g, slope)?
        }
        UnaryOp::Log => graph.div_of(g, x)?,
        UnaryOp::Log1p => {
            let below = graph.affine(x, 1.0, 1.0);
            graph.div_of(g, below)?
        }
        UnaryOp::Sigmoid => {
            let other = graph.affine(y, -1.0, 1.0);
            let slope = graph.mul_of(y, other)?;
            graph.mul_of(g, slope)?
        }
        UnaryOp::LogSigmoid => {
            let opposite = graph.negative(x);
            let slope = graph.unary(UnaryOp::Sigmoid, opposite);
            graph.mul_of(g, slope)?
        }
        UnaryOp::Erf => {
            let square = graph.unary(UnaryOp::Square, x);
            let exponent = graph.negative(square);
            let slope = graph.unary(UnaryOp::Exp, exponent);
            let part = graph.mul_of(g, slope)?;
            graph.affine(part, 2.0 / PI.sqrt(), 0.0)
        }
        UnaryOp::Sin => {
            let slope = graph.unary(UnaryOp::Cos, x);
            graph.mul_of(g, slope)?
        }
        UnaryOp::Cos => {
            let slope = graph.unary(UnaryOp::Sin, x);
            let part = graph.mul_of(g, slope)?;
            graph.negative(part)
        }
        UnaryOp::Sinh => {
            let slope = graph.unary(UnaryOp::Cosh, x);
            graph.mul_of(g, slope)?
        }
        UnaryOp::Cosh => {
            let slope = graph.unary(UnaryOp::Sinh, x);
            graph.mul_of(g, slope)?
        }
        // tan' = 1 + tan², tanh' = 1 − tanh².
        UnaryOp::Tan | UnaryOp::Tanh => {
            let square = graph.unary(UnaryOp::Square, y);
            let slope = graph.affine(square, if op == UnaryOp::Tan { 1.0 } else { -1.0 }, 1.0);
            graph.mul_of(g, slope)?
        }
        // 1/√(1 − x²), −1/√(1 − x²), 1/√(1 + x²), 1/√(x² − 1).
        UnaryOp::Asin => over_root(graph, x, g, (-1.0, 1.0))?,
        UnaryOp::Acos => {
            let part = over_root(graph, x, g, (-1.0, 1.0))?;
            graph.negative(part)
        }
        UnaryOp::Asinh => over_root(graph, x, g, (1.0, 1.0))?,
        UnaryOp::Acosh => over_root(graph, x, g, (1.0, -1.0))?,
        // 1/(1 + x²), 1/(1 − x²).
        UnaryOp::Atan | UnaryOp::Atanh => {
            let square = graph.unary(UnaryOp::Square, x);
            let below = graph.affine(square, if op == UnaryOp::Atan { 1.0 } else { -1.0 }, 1.0);
            graph.div_of(g, below)?
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

/// g / √(a x² + b).
fn over_root(graph: &mut Graph, x: NodeId, g: NodeId, (a, b): (f64, f64)) -> Result<NodeId> {
    let square = graph.unary(UnaryOp::Square, x);
    let inside = graph.affine(square, a, b);
    let root = graph.unary(UnaryOp::Sqrt, inside);
    graph.div_of(g, root)
}

/// g c x^(c−1).
fn power_of(graph: &mut Graph, x: NodeId, power: f64, g: NodeId) -> Result<Option<NodeId>> {
    if is(power, 0.0) {
        return Ok(None);
    }
    if is(power, 1.0) {
        return Ok(Some(g));
    }
    let lower = if is(power, 2.0) { x } else { graph.unary(UnaryOp::Power(Number(power - 1.0)), x) };
    let part = graph.mul_of(g, lower)?;
    Ok(Some(graph.affine(part, power, 0.0)))
}

/// The adjoints of a and b in y = f(a, b), those that are wanted.
pub(super) fn binary(
    graph: &mut Graph,
    op: BinaryOp,
    inputs: &[NodeId],
    y: NodeId,
    g: NodeId,
    wanted: &[bool],
) -> Result<Vec<Option<NodeId>>> {
    let (a, b) = (inputs[0], inputs[1]);
    let (first, second) = (wanted[0], wanted[1]);
    let mut parts = vec![None, None];
    match op {
        BinaryOp::Add => parts = vec![Some(g), Some(g)],
        BinaryOp::Sub => parts = vec![Some(g), second.then(|| graph.negative(g))],
        BinaryOp::Mul => {
            if first {
                parts[0] = Some(graph.mul_of(g, b)?);
            }
            if second {
                parts[1] = Some(graph.mul_of(g, a)?);
            }
        }
        BinaryOp::Div => {
            let part = graph.div_of(g, b)?;
            if second {
                let product = graph.mul_of(part, y)?;
                parts[1] = Some(graph.negative(product));
            }
            parts[0] = Some(part);
        }
        BinaryOp::Rem => {
            if second {
                let ratio = graph.div_of(a, b)?;
                let floor = graph.unary(UnaryOp::Floor, ratio);
                let product = graph.mul_of(g, floor)?;
                parts[1] = Some(graph.negative(product));
            }
            parts[0] = Some(g);
        }
        BinaryOp::Max | BinaryOp::Min => {
            // Equal numbers: all of it to a.
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
            let below = graph.add_of(left, right)?;
            let part = graph.div_of(g, below)?;
            if first {
                parts[0] = Some(graph.mul_of(part, b)?);
            }
            if second {
                let product = graph.mul_of(part, a)?;
                parts[1] = Some(graph.negative(product));
            }
        }
        BinaryOp::Pow => {
            if first {
                parts[0] = base(graph, a, b, g)?;
            }
            if second {
                parts[1] = Some(exponent(graph, a, y, g)?);
            }
        }
    }
    Ok(parts)
}

/// g b a^(b−1), zero where b is, also at a = 0.
fn base(graph: &mut Graph, a: NodeId, b: NodeId, g: NodeId) -> Result<Option<NodeId>> {
    if let Some(power) = graph.number(b) {
        return power_of(graph, a, power, g);
    }
    let zero = graph.scalar(0.0);
    let lower = graph.affine(b, 1.0, -1.0);
    let power = graph.binary(BinaryOp::Pow, a, lower)?;
    let slope = graph.mul_of(b, power)?;
    let none = graph.compare(CompareOp::Equal, b, zero)?;
    let slope = graph.select_where(none, zero, slope)?;
    Ok(Some(graph.mul_of(g, slope)?))
}

/// g y log a, zero where a is.
fn exponent(graph: &mut Graph, a: NodeId, y: NodeId, g: NodeId) -> Result<NodeId> {
    let (zero, one) = (graph.scalar(0.0), graph.scalar(1.0));
    let none = graph.compare(CompareOp::Equal, a, zero)?;
    let safe = graph.select_where(none, one, a)?;
    let log = graph.unary(UnaryOp::Log, safe);
    let slope = graph.mul_of(y, log)?;
    graph.mul_of(g, slope)
}

/// The adjoints of mask, a and b in `mask ? a : b`.
pub(super) fn choice(graph: &mut Graph, inputs: &[NodeId], g: NodeId, wanted: &[bool]) -> Result<Vec<Option<NodeId>>> {
    let zero = graph.full(0.0, [], Kind::Float);
    let mut parts = vec![None; 3];
    if wanted[1] {
        parts[1] = Some(graph.select_where(inputs[0], g, zero)?);
    }
    if wanted[2] {
        parts[2] = Some(graph.select_where(inputs[0], zero, g)?);
    }
    Ok(parts)
}
