//! Expansion of the softmax family and the sigmoid family into elementary operations with shared subexpressions.
//!
//! With m = max x (0 if infinite), e = exp(x − m), s = Σ e: log Σ exp = m + log s, softmax = e/s, log-softmax = (x − m)
//! − log s.
//!
//! If more than one of σ(±x), log σ(±x) is required, they share the exponential e = exp(−|x|): σ(x) = (x < 0 ? e :
//! 1)/(1 + e), log σ(x) = min(x, 0) − log(1 + e).

use super::{Optimized, RewriteContext, count_uses, finish, pass};
use crate::error::Result;
use crate::graph::{BinaryOp, CompareOp, Graph, NodeId, Op, ReduceOp, UnaryOp};
use crate::hash::Map;
use crate::shorthand::exact_eq;

/// Replaces the softmax family, and sigmoids that can share an exponential, by elementary operations. This is the last
/// pass, after [`optimize`](super::optimize).
///
/// # Errors
///
/// Returns an error if the graph is invalid.
pub fn expand_composites(graph: &Graph, roots: &[NodeId]) -> Result<Optimized> {
    let uses = count_uses(graph, roots);
    let before = uses.iter().filter(|uses| **uses > 0).count();
    let mut families: Map<NodeId, usize> = Map::default();
    for node in graph.nodes().iter().zip(&uses).filter(|(_, uses)| **uses > 0).map(|(node, _)| node) {
        if matches!(node.op, Op::Unary(UnaryOp::Sigmoid | UnaryOp::LogSigmoid)) {
            *families.entry(without_sign(graph, node.inputs[0]).0).or_default() += 1;
        }
    }
    let shared: Vec<bool> = graph
        .nodes()
        .iter()
        .map(|node| {
            node.inputs.first().is_some_and(|x| families.get(&without_sign(graph, *x).0).is_some_and(|n| *n > 1))
        })
        .collect();
    let mut index = uses.iter().enumerate().filter(|(_, uses)| **uses > 0).map(|(index, _)| index);
    let done = pass(graph, roots, &mut |context| {
        let shares = index.next().is_some_and(|index| shared[index]);
        node(context, shares)
    })?;
    // Folds the constants that the expansion produced.
    finish(&done.graph, &done.roots, before)
}

/// Returns `(x, −1)` if `id` is −x, otherwise `(id, 1)`.
fn without_sign(graph: &Graph, id: NodeId) -> (NodeId, f64) {
    graph.scaled(id).filter(|(_, scale)| exact_eq(*scale, -1.0)).unwrap_or((id, 1.0))
}

fn node(context: &mut RewriteContext<'_>, shares: bool) -> Result<Option<NodeId>> {
    let inputs = context.inputs;
    let graph = &mut *context.graph;
    match (&context.node.op, inputs) {
        (Op::LogSumExp(axis), [x]) => {
            let parts = Parts::new(graph, *x, *axis)?;
            let log = graph.unary(UnaryOp::Log, parts.total);
            graph.add(parts.largest, log).map(Some)
        }
        (Op::Softmax(axis), [x]) => {
            let parts = Parts::new(graph, *x, *axis)?;
            let inverse = graph.unary(UnaryOp::Recip, parts.total);
            graph.mul(parts.exponentials, inverse).map(Some)
        }
        (Op::LogSoftmax(axis), [x]) => {
            let parts = Parts::new(graph, *x, *axis)?;
            let log = graph.unary(UnaryOp::Log, parts.total);
            graph.sub(parts.centered, log).map(Some)
        }
        (Op::Unary(op @ (UnaryOp::Sigmoid | UnaryOp::LogSigmoid)), [x]) if shares => sigmoid(graph, *op, *x).map(Some),
        _ => Ok(None),
    }
}

/// The subexpressions that the softmax family shares.
struct Parts {
    largest: NodeId,
    centered: NodeId,
    exponentials: NodeId,
    total: NodeId,
}

impl Parts {
    fn new(graph: &mut Graph, x: NodeId, axis: usize) -> Result<Self> {
        let largest = graph.reduce(ReduceOp::Max, x, axis)?;
        // −∞ − (−∞) would be NaN, while log Σ exp is −∞.
        let infinite = graph.unary(UnaryOp::IsInfinite, largest);
        let zero = graph.scalar(0.0);
        let largest = graph.select_where(infinite, zero, largest)?;
        let centered = graph.sub(x, largest)?;
        let exponentials = graph.unary(UnaryOp::Exp, centered);
        let total = graph.reduce(ReduceOp::Sum, exponentials, axis)?;
        Ok(Self { largest, centered, exponentials, total })
    }
}

fn sigmoid(graph: &mut Graph, op: UnaryOp, argument: NodeId) -> Result<NodeId> {
    let (x, sign) = without_sign(graph, argument);
    let size = graph.unary(UnaryOp::Abs, x);
    let exponent = graph.neg(size);
    let small = graph.unary(UnaryOp::Exp, exponent);
    let zero = graph.scalar(0.0);
    if op == UnaryOp::LogSigmoid {
        let log = graph.unary(UnaryOp::Log1p, small);
        let clipped = graph.binary(BinaryOp::Min, argument, zero)?;
        return graph.sub(clipped, log);
    }
    let below = graph.affine(small, 1.0, 1.0);
    let inverse = graph.unary(UnaryOp::Recip, below);
    let other = graph.mul(small, inverse)?;
    let negative = graph.compare(CompareOp::Less, x, zero)?;
    if sign > 0.0 { graph.select_where(negative, other, inverse) } else { graph.select_where(negative, inverse, other) }
}
