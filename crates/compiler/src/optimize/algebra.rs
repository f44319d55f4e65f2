//! Real algebra. The affine function a x + b represents every addition of and multiplication by a number.
//!
//! Numbers move outward: (a x) y → a (x y), Σ (a x + b) → a Σ x + n b. The rules are valid for infinite x: x · 0 and x
//! − x are not simplified. Rounding may change in the last digit.

use super::{RewriteContext, Stage};
use crate::error::Result;
use crate::graph::{BinaryOp, Graph, Kind, NodeId, Number, Op, ReduceOp, UnaryOp};
use crate::shorthand::{exact_eq, is_mergeable, is_movable};

pub(super) fn apply(context: &mut RewriteContext<'_>, stage: Stage) -> Result<Option<NodeId>> {
    let inputs = context.inputs;
    let graph = &mut *context.graph;
    match (&context.node.op, inputs) {
        (Op::Binary(op), [a, b]) if context.node.kind == Kind::Int => integers(graph, *op, *a, *b),
        _ if context.node.kind != Kind::Float => Ok(None),
        (Op::Unary(op), [x]) => unary(graph, *op, *x, stage),
        (Op::Binary(op), [a, b]) => {
            if let Some(found) = with_number(graph, *op, *a, *b)? {
                return Ok(Some(found));
            }
            match op {
                BinaryOp::Add => add(graph, *a, *b),
                BinaryOp::Sub => sub(graph, *a, *b),
                BinaryOp::Mul => mul(graph, *a, *b, stage),
                BinaryOp::Div => div(graph, *a, *b, stage),
                _ => Ok(None),
            }
        }
        (Op::Reduce(ReduceOp::Sum, axis), [x]) => sum(graph, *x, *axis),
        _ => Ok(None),
    }
}

/// Returns whether a number neither overflowed nor underflowed.
fn usable(number: f64) -> bool {
    number.is_finite() && (exact_eq(number, 0.0) || number.abs() > f64::MIN_POSITIVE)
}

fn integers(graph: &mut Graph, op: BinaryOp, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    let (left, right) = (graph.number(a), graph.number(b));
    let equal = |number: Option<f64>, to: f64| number.is_some_and(|number| exact_eq(number, to));
    Ok(match op {
        BinaryOp::Mul if equal(left, 0.0) || equal(right, 1.0) => Some(a),
        BinaryOp::Mul if equal(right, 0.0) || equal(left, 1.0) => Some(b),
        BinaryOp::Add | BinaryOp::Sub if equal(right, 0.0) => Some(a),
        BinaryOp::Add if equal(left, 0.0) => Some(b),
        BinaryOp::Div if equal(right, 1.0) => Some(a),
        _ => sorted(graph, op, a, b)?,
    })
}

fn unary(graph: &mut Graph, op: UnaryOp, x: NodeId, stage: Stage) -> Result<Option<NodeId>> {
    Ok(match op {
        UnaryOp::Neg => Some(graph.neg(x)),
        UnaryOp::Affine { scale, shift } => affine(graph, x, scale.0, shift.0),
        // The derivative of x √x is NaN at zero, while that of x^1.5 is zero.
        UnaryOp::Power(power) if stage == Stage::Forward && exact_eq(power.0.abs(), 1.5) => None,
        UnaryOp::Power(power) => power_of(graph, x, power.0)?,
        UnaryOp::Square | UnaryOp::Abs | UnaryOp::Recip => {
            if let (UnaryOp::Square, Some(inner)) = (op, graph.argument(UnaryOp::Abs, x)) {
                return Ok(Some(graph.unary(UnaryOp::Square, inner)));
            }
            if let (UnaryOp::Recip, Some(inner)) = (op, graph.argument(UnaryOp::Recip, x)) {
                return Ok(Some(inner));
            }
            let Some((inner, scale)) = graph.scaled(x) else { return Ok(None) };
            let outer = match op {
                UnaryOp::Square => scale * scale,
                UnaryOp::Abs => scale.abs(),
                _ => scale.recip(),
            };
            if !usable(outer) || exact_eq(scale, 0.0) {
                return Ok(None);
            }
            let y = graph.unary(op, inner);
            Some(graph.affine(y, outer, 0.0))
        }
        UnaryOp::Sqrt => graph.argument(UnaryOp::Square, x).map(|inner| graph.unary(UnaryOp::Abs, inner)),
        UnaryOp::Log => graph.argument(UnaryOp::Exp, x),
        UnaryOp::Log1p => graph.argument(UnaryOp::Expm1, x),
        _ => None,
    })
}

fn affine(graph: &mut Graph, x: NodeId, scale: f64, shift: f64) -> Option<NodeId> {
    if exact_eq(scale, 1.0) && exact_eq(shift, 0.0) {
        return Some(x);
    }
    if let Some((inner, a, b)) = graph.affine_parts(x) {
        let (product, sum) = (scale * a, scale * b + shift);
        let vanished = exact_eq(product, 0.0) && !exact_eq(scale, 0.0) && !exact_eq(a, 0.0);
        let grows = !is_mergeable(product) && is_mergeable(scale) && is_mergeable(a);
        return (usable(product) && usable(sum) && !vanished && !grows).then(|| graph.affine(inner, product, sum));
    }
    None
}

fn power_of(graph: &mut Graph, x: NodeId, power: f64) -> Result<Option<NodeId>> {
    let square = |graph: &mut Graph, x| graph.unary(UnaryOp::Square, x);
    if power < 0.0 && [-0.5, -1.0, -1.5, -2.0, -3.0, -4.0].iter().any(|known| exact_eq(*known, power)) {
        let inverse = power_of(graph, x, -power)?.unwrap_or(x);
        return Ok(Some(graph.unary(UnaryOp::Recip, inverse)));
    }
    Ok(if exact_eq(power, 0.5) {
        Some(graph.unary(UnaryOp::Sqrt, x))
    } else if exact_eq(power, 1.0) {
        Some(x)
    } else if exact_eq(power, 1.5) {
        let root = graph.unary(UnaryOp::Sqrt, x);
        Some(graph.mul(x, root)?)
    } else if exact_eq(power, 2.0) {
        Some(square(graph, x))
    } else if exact_eq(power, 3.0) {
        let square = square(graph, x);
        Some(graph.mul(x, square)?)
    } else if exact_eq(power, 4.0) {
        let once = square(graph, x);
        Some(square(graph, once))
    } else {
        None
    })
}

/// Rewrites f(x, c) and f(c, x) with a number c.
fn with_number(graph: &mut Graph, op: BinaryOp, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    if let Some(c) = graph.number(b) {
        return Ok(match op {
            BinaryOp::Add => Some(graph.affine(a, 1.0, c)),
            BinaryOp::Sub => Some(graph.affine(a, 1.0, -c)),
            BinaryOp::Mul => Some(graph.affine(a, c, 0.0)),
            BinaryOp::Div if usable(c.recip()) => Some(graph.affine(a, c.recip(), 0.0)),
            BinaryOp::Pow => Some(graph.unary(UnaryOp::Power(Number(c)), a)),
            _ => None,
        });
    }
    let Some(c) = graph.number(a) else { return Ok(None) };
    Ok(match op {
        BinaryOp::Add => Some(graph.affine(b, 1.0, c)),
        BinaryOp::Sub => Some(graph.affine(b, -1.0, c)),
        BinaryOp::Mul => Some(graph.affine(b, c, 0.0)),
        BinaryOp::Div => {
            let inverse = graph.unary(UnaryOp::Recip, b);
            Some(graph.affine(inverse, c, 0.0))
        }
        _ => None,
    })
}

/// Sorts the operands of a commutative operation by their identifiers, so that equal sums and products are one node.
fn sorted(graph: &mut Graph, op: BinaryOp, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    if matches!(op, BinaryOp::Add | BinaryOp::Mul) && b < a { graph.binary(op, b, a).map(Some) } else { Ok(None) }
}

fn add(graph: &mut Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    if a == b {
        return Ok(Some(graph.affine(a, 2.0, 0.0)));
    }
    for (x, y) in [(a, b), (b, a)] {
        match graph.affine_parts(x) {
            Some((inner, scale, shift)) if exact_eq(scale, 1.0) => {
                let sum = graph.add(inner, y)?;
                return Ok(Some(graph.affine(sum, 1.0, shift)));
            }
            Some((inner, scale, shift)) if exact_eq(scale, -1.0) => {
                let difference = graph.sub(y, inner)?;
                return Ok(Some(graph.affine(difference, 1.0, shift)));
            }
            _ => {}
        }
    }
    match common(graph, a, b) {
        Some((x, y, scale)) => {
            let sum = graph.add(x, y)?;
            Ok(Some(graph.affine(sum, scale, 0.0)))
        }
        None => sorted(graph, BinaryOp::Add, a, b),
    }
}

fn sub(graph: &mut Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    match graph.affine_parts(b) {
        Some((inner, scale, shift)) if exact_eq(scale, 1.0) => {
            let difference = graph.sub(a, inner)?;
            return Ok(Some(graph.affine(difference, 1.0, -shift)));
        }
        Some((inner, scale, shift)) if exact_eq(scale, -1.0) => {
            let sum = graph.add(a, inner)?;
            return Ok(Some(graph.affine(sum, 1.0, -shift)));
        }
        _ => {}
    }
    match graph.affine_parts(a) {
        Some((inner, scale, shift)) if exact_eq(scale, 1.0) => {
            let difference = graph.sub(inner, b)?;
            return Ok(Some(graph.affine(difference, 1.0, shift)));
        }
        Some((inner, scale, shift)) if exact_eq(scale, -1.0) => {
            let sum = graph.add(inner, b)?;
            return Ok(Some(graph.affine(sum, -1.0, shift)));
        }
        _ => {}
    }
    let Some((x, y, scale)) = common(graph, a, b) else { return Ok(None) };
    let difference = graph.sub(x, y)?;
    Ok(Some(graph.affine(difference, scale, 0.0)))
}

/// Returns `(x, y, c)` if a = c x and b = c y.
fn common(graph: &Graph, a: NodeId, b: NodeId) -> Option<(NodeId, NodeId, f64)> {
    let ((x, left), (y, right)) = (graph.scaled(a)?, graph.scaled(b)?);
    exact_eq(left, right).then_some((x, y, left))
}

fn mul(graph: &mut Graph, a: NodeId, b: NodeId, stage: Stage) -> Result<Option<NodeId>> {
    if a == b {
        return Ok(Some(graph.unary(UnaryOp::Square, a)));
    }
    for (x, y) in [(a, b), (b, a)] {
        if let Some((inner, scale)) = graph.scaled(x) {
            let product = graph.mul(inner, y)?;
            return Ok(Some(graph.affine(product, scale, 0.0)));
        }
        if let Some(below) = graph.argument(UnaryOp::Recip, x)
            && !(stage == Stage::Complete && cheaper(graph, below, y))
        {
            return graph.div(y, below).map(Some);
        }
    }
    sorted(graph, BinaryOp::Mul, a, b)
}

fn div(graph: &mut Graph, a: NodeId, b: NodeId, stage: Stage) -> Result<Option<NodeId>> {
    if let Some((inner, scale)) = graph.scaled(a) {
        let ratio = graph.div(inner, b)?;
        return Ok(Some(graph.affine(ratio, scale, 0.0)));
    }
    if let Some((inner, scale)) = graph.scaled(b).filter(|(_, scale)| usable(scale.recip())) {
        let ratio = graph.div(a, inner)?;
        return Ok(Some(graph.affine(ratio, scale.recip(), 0.0)));
    }
    if let Some(inner) = graph.argument(UnaryOp::Recip, b) {
        return graph.mul(a, inner).map(Some);
    }
    if stage == Stage::Complete && cheaper(graph, b, a) {
        let inverse = graph.unary(UnaryOp::Recip, b);
        return graph.mul(a, inverse).map(Some);
    }
    Ok(None)
}

/// Returns whether the reciprocal of `below` is cheaper than the division of `above`: `below` is shared or smaller.
fn cheaper(graph: &Graph, below: NodeId, above: NodeId) -> bool {
    let (below, above) = (graph.shape(below), graph.shape(above));
    (above.rows && !below.rows) || (above.rows == below.rows && below.size() < above.size())
}

/// Σ (a x + b) = a Σ x + n b. If y is constant along the axis, Σ x y = y Σ x and Σ (x ± y) = Σ x ± n y.
fn sum(graph: &mut Graph, x: NodeId, axis: usize) -> Result<Option<NodeId>> {
    let node = graph.node(x).clone();
    let (rank, length) = (node.shape.rank(), node.shape.dims[axis] as f64);
    if let Some((inner, scale, shift)) = graph.affine_parts(x).filter(|(_, scale, _)| is_movable(*scale)) {
        let sum = graph.reduce(ReduceOp::Sum, inner, axis)?;
        return Ok(Some(graph.affine(sum, scale, shift * length)));
    }
    let Op::Binary(op) = node.op else { return Ok(None) };
    let (mut a, mut b) = (node.inputs[0], node.inputs[1]);
    let own_axis = |graph: &Graph, id: NodeId| {
        let dims = &graph.shape(id).dims;
        (axis + dims.len()).checked_sub(rank).filter(|axis| dims[*axis] != 1)
    };
    let (mut left, mut right) = (own_axis(graph, a), own_axis(graph, b));
    if op == BinaryOp::Mul && left.is_none() {
        (a, b, left, right) = (b, a, right, left);
    }
    let sum_of = |graph: &mut Graph, id: NodeId, own: Option<usize>| match own {
        Some(own) => graph.reduce(ReduceOp::Sum, id, own),
        None => Ok(graph.affine(id, length, 0.0)),
    };
    match (op, left, right) {
        (BinaryOp::Mul | BinaryOp::Div, Some(own), None) => {
            let sum = graph.reduce(ReduceOp::Sum, a, own)?;
            graph.binary(op, sum, b).map(Some)
        }
        (BinaryOp::Add | BinaryOp::Sub, Some(_), None) | (BinaryOp::Add | BinaryOp::Sub, None, Some(_)) => {
            let (first, second) = (sum_of(graph, a, left)?, sum_of(graph, b, right)?);
            graph.binary(op, first, second).map(Some)
        }
        _ => Ok(None),
    }
}
