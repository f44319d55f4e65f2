//! Rewrites of masks, choices and casts.

use super::{RewriteContext, Stage};
use crate::error::Result;
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, LogicOp, NodeId, Op, UnaryOp};
use crate::shorthand::exact_eq;

pub(super) fn apply(context: &mut RewriteContext<'_>, _: Stage) -> Result<Option<NodeId>> {
    let inputs = context.inputs;
    let graph = &mut *context.graph;
    match (&context.node.op, inputs) {
        (Op::Unary(UnaryOp::Not), [mask]) => not(graph, *mask),
        (Op::Where, [mask, a, b]) => choice(graph, *mask, *a, *b),
        (Op::Logic(op), [a, b]) => Ok(logic(graph, *op, *a, *b)),
        (Op::Cast, [x]) => Ok(cast(graph, *x, context.node.kind)),
        _ => Ok(None),
    }
}

fn not(graph: &mut Graph, mask: NodeId) -> Result<Option<NodeId>> {
    if let Some(x) = graph.argument(UnaryOp::Not, mask) {
        return Ok(Some(x));
    }
    // Other comparisons and their opposites are both false for NaN.
    let node = graph.node(mask);
    let opposite = match node.op {
        Op::Compare(CompareOp::Equal) => CompareOp::NotEqual,
        Op::Compare(CompareOp::NotEqual) => CompareOp::Equal,
        _ => return Ok(None),
    };
    let (a, b) = (node.inputs[0], node.inputs[1]);
    graph.compare(opposite, a, b).map(Some)
}

fn choice(graph: &mut Graph, mask: NodeId, a: NodeId, b: NodeId) -> Result<Option<NodeId>> {
    if a == b {
        return Ok(Some(a));
    }
    if let Some(always) = graph.number(mask) {
        return Ok(Some(if exact_eq(always, 0.0) { b } else { a }));
    }
    if let Some(opposite) = graph.argument(UnaryOp::Not, mask) {
        return graph.select_where(opposite, b, a).map(Some);
    }
    if let Some(op) = extreme(graph, mask, a, b) {
        // For ties and NaN, the operation returns its first operand. The choice returns b if the comparison is false.
        return graph.binary(op, b, a).map(Some);
    }
    // Inside a branch, the value of the same mask is known.
    let inner = |graph: &Graph, id: NodeId, side: usize| {
        let node = graph.node(id);
        (node.op == Op::Where && node.inputs[0] == mask).then(|| node.inputs[side])
    };
    let (first, second) = (inner(graph, a, 1), inner(graph, b, 2));
    if first.is_some() || second.is_some() {
        return graph.select_where(mask, first.unwrap_or(a), second.unwrap_or(b)).map(Some);
    }
    Ok(None)
}

/// Returns the maximum or minimum that is equal to a choice such as `a > b ? a : b`.
///
/// `a ≥ b ? a : b` is not equal to either: it returns the first operand for ties and the second one for NaN. Choices
/// with a number are kept, because other rules recognize guards by them.
fn extreme(graph: &Graph, mask: NodeId, a: NodeId, b: NodeId) -> Option<BinaryOp> {
    if graph.number(a).is_some() || graph.number(b).is_some() {
        return None;
    }
    let node = graph.node(mask);
    let greater = match node.op {
        Op::Compare(CompareOp::Greater) => true,
        Op::Compare(CompareOp::Less) => false,
        _ => return None,
    };
    let in_order = match node.inputs.as_slice() {
        [first, second] if (*first, *second) == (a, b) => true,
        [first, second] if (*second, *first) == (a, b) => false,
        _ => return None,
    };
    Some(if greater == in_order { BinaryOp::Max } else { BinaryOp::Min })
}

fn logic(graph: &Graph, op: LogicOp, a: NodeId, b: NodeId) -> Option<NodeId> {
    if a == b && op != LogicOp::Xor {
        return Some(a);
    }
    for (mask, other) in [(a, b), (b, a)] {
        let Some(known) = graph.number(other) else { continue };
        match (op, exact_eq(known, 0.0)) {
            (LogicOp::And, false) | (LogicOp::Or | LogicOp::Xor, true) => return Some(mask),
            (LogicOp::And, true) | (LogicOp::Or, false) => return Some(other),
            (LogicOp::Xor, false) => {}
        }
    }
    None
}

/// Merges two casts if the first one is lossless.
fn cast(graph: &mut Graph, x: NodeId, kind: Kind) -> Option<NodeId> {
    let node = graph.node(x);
    if node.op != Op::Cast {
        return None;
    }
    let inner = node.inputs[0];
    let between = node.kind;
    match (graph.node(inner).kind, between) {
        (Kind::Mask, _) | (Kind::Int, Kind::Float) => Some(graph.cast(inner, kind)),
        _ => None,
    }
}
