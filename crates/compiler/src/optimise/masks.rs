//! Masks, choices and casts.

use super::{Site, Stage};
use crate::error::Result;
use crate::graph::{BinaryOp, CompareOp, Graph, Kind, LogicOp, NodeId, Op, UnaryOp};
use crate::shorthand::is;

pub(super) fn apply(site: &mut Site<'_>, _: Stage) -> Result<Option<NodeId>> {
    let inputs = site.inputs;
    let graph = &mut *site.graph;
    match (&site.node.op, inputs) {
        (Op::Unary(UnaryOp::Not), [mask]) => not(graph, *mask),
        (Op::Where, [mask, a, b]) => choice(graph, *mask, *a, *b),
        (Op::Logic(op), [a, b]) => Ok(logic(graph, *op, *a, *b)),
        (Op::Cast, [x]) => Ok(cast(graph, *x, site.node.kind)),
        _ => Ok(None),
    }
}

fn not(graph: &mut Graph, mask: NodeId) -> Result<Option<NodeId>> {
    if let Some(x) = graph.argument(UnaryOp::Not, mask) {
        return Ok(Some(x));
    }
    // The other comparisons have both answers false for NaN.
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
        return Ok(Some(if is(always, 0.0) { b } else { a }));
    }
    if let Some(opposite) = graph.argument(UnaryOp::Not, mask) {
        return graph.select_where(opposite, b, a).map(Some);
    }
    if let Some(op) = extreme(graph, mask, a, b) {
        // Of equals, and of numbers without an order, the first counts: where the comparison fails, that is b.
        return graph.binary(op, b, a).map(Some);
    }
    // The same mask within a branch has one answer there.
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

/// The maximum or minimum that `a > b ? a : b` and the like are. `a ≥ b ? a : b` is none: of equals it gives the first and of numbers
/// without an order the second. Caps at a number stay as they are: guards are known by them.
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
        match (op, is(known, 0.0)) {
            (LogicOp::And, false) | (LogicOp::Or | LogicOp::Xor, true) => return Some(mask),
            (LogicOp::And, true) | (LogicOp::Or, false) => return Some(other),
            (LogicOp::Xor, false) => {}
        }
    }
    None
}

/// A cast of a cast, if the one between lost nothing.
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
