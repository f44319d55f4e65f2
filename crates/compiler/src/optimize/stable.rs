//! Accurate forms of expressions that overflow or cancel as usually written.
//!
//! log p is expanded if p is a product of exponentials: log Σ exp(x) → log-sum-exp, log σ(x) → log-sigmoid, log(1 + eˣ)
//! → −log σ(−x). Shifts that are constant along the axis are removed: m + lse(x − m) = lse(x), softmax(x − m) =
//! softmax(x), max(a, b) + log(1 + e^−|a−b|) = b − log σ(b − a).

mod quiet;

use super::movement::size_along;
use super::{RewriteContext, Stage};
use crate::error::Result;
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, NodeId, Op, ReduceOp, UnaryOp};
use crate::hash::Map;
use crate::shorthand::exact_eq;

/// The minimum threshold of a guarded softplus. Above this value, softplus(x) equals x in single precision; a lower
/// threshold is not a guard.
const LOWEST_GUARD: f64 = 15.0;

pub(super) fn apply(context: &mut RewriteContext<'_>, stage: Stage) -> Result<Option<NodeId>> {
    if context.node.kind != Kind::Float {
        return Ok(None);
    }
    let inputs = context.inputs;
    let graph = &mut *context.graph;
    match (&context.node.op, inputs) {
        (Op::Unary(UnaryOp::Log), [x]) => log(graph, *x, context.logs),
        (Op::Unary(UnaryOp::Log1p), [x]) => log1p(graph, *x),
        (Op::Unary(UnaryOp::Exp), [x]) => match graph.node(*x).op {
            Op::LogSoftmax(axis) => graph.softmax(graph.node(*x).inputs[0], axis).map(Some),
            _ => Ok(graph.argument(UnaryOp::LogSigmoid, *x).map(|x| graph.unary(UnaryOp::Sigmoid, x))),
        },
        (Op::Unary(UnaryOp::Recip), [x]) => {
            // 1/(1 + eᶻ) = σ(−z).
            let Some(exponent) = one_plus_exp(graph, *x) else { return Ok(None) };
            let opposite = graph.neg(exponent);
            Ok(Some(graph.unary(UnaryOp::Sigmoid, opposite)))
        }
        (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if stage == Stage::Forward => {
            Ok(forward_affine(graph, *x, scale.0, shift.0))
        }
        (Op::Binary(BinaryOp::Div), [a, b]) => match ratio(graph, *a, *b)? {
            None if stage == Stage::Forward => quiet::softmax(graph, *a, *b),
            found => Ok(found),
        },
        (Op::Binary(BinaryOp::Add), [a, b]) => {
            for (m, total) in [(*a, *b), (*b, *a)] {
                let log = graph.scaled(total).filter(|(_, scale)| exact_eq(*scale, -1.0)).map(|(log, _)| log);
                let found = match (shifted_total(graph, m, total)?, log) {
                    (None, Some(log)) => log_add_exp(graph, m, log)?,
                    (found, _) => found,
                };
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        }
        (Op::Binary(BinaryOp::Sub), [a, b]) => match graph.node(*b).op {
            Op::LogSumExp(axis) if graph.node(*b).inputs[0] == *a => graph.log_softmax(*a, axis).map(Some),
            _ => log_add_exp(graph, *a, *b),
        },
        (Op::Where, [mask, a, b]) => Ok(guarded_softplus(graph, *mask, *a, *b)),
        (Op::Softmax(axis), [x]) => match unshifted(graph, *x, *axis) {
            Some((inner, _)) => graph.softmax(inner, *axis).map(Some),
            None => Ok(None),
        },
        (Op::LogSoftmax(axis), [x]) => match unshifted(graph, *x, *axis) {
            Some((inner, _)) => graph.log_softmax(inner, *axis).map(Some),
            None => Ok(None),
        },
        (Op::Gather(axis), [source, index]) => gathered(graph, *source, *index, *axis),
        _ => Ok(None),
    }
}

fn log(graph: &mut Graph, x: NodeId, logs: &mut Logs) -> Result<Option<NodeId>> {
    if let Some(found) = log_of(graph, x, logs)? {
        return Ok(Some(found));
    }
    let node = graph.node(x).clone();
    if let Op::Reduce(ReduceOp::Sum, axis) = node.op
        && let Some(terms) = log_of(graph, node.inputs[0], logs)?
    {
        let dims = graph.shape(node.inputs[0]).dims.clone();
        let terms = graph.expand(terms, dims)?;
        return graph.log_sum_exp(terms, axis).map(Some);
    }
    // log(1 ± y).
    if let Some((inner, scale, shift)) = graph.affine_parts(x)
        && exact_eq(shift, 1.0)
        && exact_eq(scale.abs(), 1.0)
    {
        let inner = if scale < 0.0 { graph.neg(inner) } else { inner };
        return Ok(Some(graph.unary(UnaryOp::Log1p, inner)));
    }
    Ok(None)
}

/// The cache of logarithms in a graph.
pub(super) type Logs = Map<NodeId, Option<NodeId>>;

/// Returns log p without computing a logarithm, if p consists of exponentials.
fn log_of(graph: &mut Graph, p: NodeId, logs: &mut Logs) -> Result<Option<NodeId>> {
    let mut stack = vec![p];
    while let Some(id) = stack.last().copied() {
        // Process factors first, with an explicit stack: products can be as deep as the user's loops.
        let missing = factors(graph, id).into_iter().flatten().find(|factor| !logs.contains_key(factor));
        match missing {
            Some(factor) if !logs.contains_key(&id) => stack.push(factor),
            _ => {
                stack.pop();
                if !logs.contains_key(&id) {
                    let log = log_of_product(graph, id, logs)?;
                    logs.insert(id, log);
                }
            }
        }
    }
    Ok(logs.get(&p).copied().flatten())
}

/// Returns the factors of `p`.
fn factors(graph: &Graph, p: NodeId) -> [Option<NodeId>; 2] {
    let node = graph.node(p);
    match node.op {
        Op::Unary(UnaryOp::Affine { scale, shift }) if exact_eq(shift.0, 0.0) && scale.0 > 0.0 => {
            [Some(node.inputs[0]), None]
        }
        Op::Binary(BinaryOp::Mul | BinaryOp::Div) => [Some(node.inputs[0]), Some(node.inputs[1])],
        _ => [None; 2],
    }
}

/// Returns log p from the logarithms of its factors.
fn log_of_product(graph: &mut Graph, p: NodeId, logs: &Logs) -> Result<Option<NodeId>> {
    let known = factors(graph, p).map(|factor| factor.and_then(|factor| logs.get(&factor).copied().flatten()));
    let node = graph.node(p);
    let input = node.inputs.first().copied();
    Ok(match (&node.op, input, known) {
        (Op::Unary(UnaryOp::Exp), input, _) => input,
        (Op::Unary(UnaryOp::Sigmoid), Some(x), _) => Some(graph.unary(UnaryOp::LogSigmoid, x)),
        (Op::Softmax(axis), Some(x), _) => Some(graph.log_softmax(x, *axis)?),
        (Op::Unary(UnaryOp::Affine { scale, .. }), _, [Some(log), _]) => Some(graph.affine(log, 1.0, scale.0.ln())),
        (Op::Binary(BinaryOp::Mul), _, [Some(left), Some(right)]) => Some(graph.add(left, right)?),
        (Op::Binary(BinaryOp::Div), _, [Some(left), Some(right)]) => Some(graph.sub(left, right)?),
        _ => None,
    })
}

fn log1p(graph: &mut Graph, x: NodeId) -> Result<Option<NodeId>> {
    if let Some(exponent) = graph.argument(UnaryOp::Exp, x) {
        let opposite = graph.neg(exponent);
        let log = graph.unary(UnaryOp::LogSigmoid, opposite);
        return Ok(Some(graph.neg(log)));
    }
    // log(1 − σ(x)) = log σ(−x).
    if let Some((inner, scale)) = graph.scaled(x)
        && exact_eq(scale, -1.0)
        && let Some(inner) = graph.argument(UnaryOp::Sigmoid, inner)
    {
        let opposite = graph.neg(inner);
        return Ok(Some(graph.unary(UnaryOp::LogSigmoid, opposite)));
    }
    Ok(None)
}

/// Rewrites 1 − σ(x) = σ(−x) and eˣ − 1 in the forward expression. Gradients are excluded, because they share σ(x) with
/// the value.
fn forward_affine(graph: &mut Graph, x: NodeId, scale: f64, shift: f64) -> Option<NodeId> {
    if exact_eq(scale, -1.0) && exact_eq(shift, 1.0) {
        let inner = graph.argument(UnaryOp::Sigmoid, x)?;
        let opposite = graph.neg(inner);
        return Some(graph.unary(UnaryOp::Sigmoid, opposite));
    }
    if exact_eq(scale, 1.0) && exact_eq(shift, -1.0) {
        let inner = graph.argument(UnaryOp::Exp, x)?;
        return Some(graph.unary(UnaryOp::Expm1, inner));
    }
    None
}

/// Returns z if x is 1 + eᶻ.
fn one_plus_exp(graph: &Graph, x: NodeId) -> Option<NodeId> {
    let (inner, scale, shift) = graph.affine_parts(x)?;
    if exact_eq(scale, 1.0) && exact_eq(shift, 1.0) { graph.argument(UnaryOp::Exp, inner) } else { None }
}

/// Rewrites eˣ/(1 + eˣ) = σ(x) and eˣ/Σ eˣ = softmax(x).
fn ratio(graph: &mut Graph, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    let Some(x) = graph.argument(UnaryOp::Exp, a) else { return Ok(None) };
    if one_plus_exp(graph, b) == Some(x) {
        return Ok(Some(graph.unary(UnaryOp::Sigmoid, x)));
    }
    let node = graph.node(b);
    match node.op {
        Op::Reduce(ReduceOp::Sum, axis) if node.inputs[0] == a => graph.softmax(x, axis).map(Some),
        _ => Ok(None),
    }
}

/// Returns `(x, m)` if `id` is x − m and m is constant along the axis.
fn unshifted(graph: &Graph, id: NodeId, axis: usize) -> Option<(NodeId, NodeId)> {
    let (x, m) = graph.arguments(BinaryOp::Sub, id)?;
    let (shape, shift) = (graph.shape(x), graph.shape(m));
    let whole = graph.shape(id);
    // x must have the shape of the difference without broadcasting.
    (shape == whole && size_along(&shift.dims, axis, whole.rank()) == 1).then_some((x, m))
}

/// Rewrites m + lse(x − m) = lse(x).
fn shifted_total(graph: &mut Graph, m: NodeId, total: NodeId) -> Result<Option<NodeId>> {
    let node = graph.node(total).clone();
    // If the sum was squeezed, m was squeezed too.
    let (node, m) = if node.op == Op::Reshape {
        let inner = graph.node(node.inputs[0]).clone();
        let dims = inner.shape.dims.clone();
        (inner, if graph.shape(m).dims == node.shape.dims { graph.reshape(m, dims)? } else { m })
    } else {
        (node, m)
    };
    let Op::LogSumExp(axis) = node.op else { return Ok(None) };
    let Some((x, shift)) = unshifted(graph, node.inputs[0], axis) else { return Ok(None) };
    let plain = |id: NodeId| graph.strip_ops(id, |op| *op == Op::Reshape);
    if plain(shift) != plain(m) || graph.shape(shift).size() != graph.shape(m).size() {
        return Ok(None);
    }
    let sum = graph.log_sum_exp(x, axis)?;
    graph.reshape(sum, graph.shape(total).dims.clone()).map(Some)
}

/// Rewrites max(a, b) − log σ(|a − b|) = log(eᵃ + eᵇ) = b − log σ(b − a), which needs neither the maximum nor the
/// absolute value.
fn log_add_exp(graph: &mut Graph, largest: NodeId, log: NodeId) -> Result<Option<NodeId>> {
    let Some((a, b)) = graph.arguments(BinaryOp::Max, largest) else { return Ok(None) };
    let Some(gap) = graph.argument(UnaryOp::LogSigmoid, log) else { return Ok(None) };
    let (modulus, scale, shift) = parts(graph, gap);
    let Some(difference) = graph.argument(UnaryOp::Abs, modulus) else { return Ok(None) };
    let Some((p, q)) = graph.arguments(BinaryOp::Sub, difference) else { return Ok(None) };
    // A common factor of a and b may be outside of their difference.
    let ((x, slope, offset), (y, other_slope, other_offset)) = (parts(graph, a), parts(graph, b));
    let pair = |u: NodeId, v: NodeId| (u, v) == (p, q) || (v, u) == (p, q);
    let common =
        pair(x, y) && exact_eq(slope, other_slope) && exact_eq(offset, other_offset) && exact_eq(scale, slope.abs());
    if !exact_eq(shift, 0.0) || !(common || (pair(a, b) && exact_eq(scale, 1.0))) {
        return Ok(None);
    }
    let gap = graph.sub(b, a)?;
    let log = graph.unary(UnaryOp::LogSigmoid, gap);
    graph.sub(b, log).map(Some)
}

/// Rewrites `β x > t ? x : softplus(β x)/β` to softplus(β x)/β = −log σ(−β x)/β. The argument β x of the softplus may
/// be capped at t.
fn guarded_softplus(graph: &mut Graph, mask: NodeId, x: NodeId, other: NodeId) -> Option<NodeId> {
    let node = graph.node(mask);
    let (scaled, threshold) = (*node.inputs.first()?, *node.inputs.get(1)?);
    if node.op != Op::Compare(CompareOp::Greater) || graph.number(threshold)? < LOWEST_GUARD {
        return None;
    }
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
    let (base, slope, shift) = parts(graph, x);
    let (scaled_base, scaled_slope, scaled_shift) = parts(graph, scaled);
    let beta = scaled_slope / slope;
    if scaled_base != base || beta <= 0.0 || !near(scaled_shift, beta * shift) {
        return None;
    }
    let (log, outer) = graph.scaled(other)?;
    let (inside, inner_slope, inner_shift) = parts(graph, graph.argument(UnaryOp::LogSigmoid, log)?);
    let node = graph.node(inside);
    let capped = node.op == Op::Where
        && node.inputs[0] == mask
        && graph.number(node.inputs[1]) == graph.number(threshold)
        && node.inputs[2] == scaled
        && exact_eq(inner_slope, -1.0)
        && exact_eq(inner_shift, 0.0);
    let plain = inside == base && near(inner_slope, -scaled_slope) && near(inner_shift, -scaled_shift);
    if !(capped || plain) || !near(outer, -beta.recip()) {
        return None;
    }
    let opposite = graph.neg(scaled);
    let log = graph.unary(UnaryOp::LogSigmoid, opposite);
    Some(graph.affine(log, -beta.recip(), 0.0))
}

/// Returns `(x, a, b)` such that the value of `id` is a x + b.
fn parts(graph: &Graph, id: NodeId) -> (NodeId, f64, f64) {
    graph.affine_parts(id).unwrap_or((id, 1.0, 0.0))
}

/// Rewrites one element of a log-softmax to `x[i]` − lse(x).
fn gathered(graph: &mut Graph, source: NodeId, index: NodeId, axis: usize) -> Result<Option<NodeId>> {
    let node = graph.node(source).clone();
    if node.op != Op::LogSoftmax(axis) || graph.shape(index).dims[axis] != 1 {
        return Ok(None);
    }
    let x = unshifted(graph, node.inputs[0], axis).map_or(node.inputs[0], |(x, _)| x);
    let chosen = graph.gather(x, index, axis)?;
    let total = graph.log_sum_exp(x, axis)?;
    graph.sub(chosen, total).map(Some)
}
