//! Lowering: the softmax family and the sigmoid family as the operations they are made of, with the parts in common shared.
//!
//! m = max x (0 where infinite), e = exp(x − m), s = Σ e: log Σ exp = m + log s, softmax = e/s, log-softmax = (x − m) − log s.
//! Where more than one of σ(±x), log σ(±x) is needed, with e = exp(−|x|): σ(x) = (x < 0 ? e : 1)/(1 + e),
//! log σ(x) = min(x, 0) − log(1 + e), so that one exponential serves all.

use super::{Optimised, Site, count_uses, finish, pass};
use crate::error::Result;
use crate::graph::{BinaryOp, CompareOp, Graph, NodeId, Op, ReduceOp, UnaryOp};
use crate::hash::Map;
use crate::shorthand::is;

/// Replaces the softmax family, and sigmoids that can share their exponential, by the operations they are made of: the last
/// pass, for what [`optimise`](super::optimise) gave.
///
/// # Errors
///
/// If the graph is not a valid one.
pub fn lower(graph: &Graph, roots: &[NodeId]) -> Result<Optimised> {
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
    let done = pass(graph, roots, &mut |site| {
        let shares = index.next().is_some_and(|index| shared[index]);
        node(site, shares)
    })?;
    // Numbers that met numbers.
    finish(&done.graph, &done.roots, before)
}

/// `(x, −1)` if `id` is −x, otherwise itself and 1.
fn without_sign(graph: &Graph, id: NodeId) -> (NodeId, f64) {
    graph.scaled(id).filter(|(_, scale)| is(*scale, -1.0)).unwrap_or((id, 1.0))
}

fn node(site: &mut Site<'_>, shares: bool) -> Result<Option<NodeId>> {
    let inputs = site.inputs;
    let graph = &mut *site.graph;
    match (&site.node.op, inputs) {
        (Op::LogSumExp(axis), [x]) => {
            let parts = Parts::new(graph, *x, *axis)?;
            let log = graph.unary(UnaryOp::Log, parts.total);
            graph.add_of(parts.largest, log).map(Some)
        }
        (Op::Softmax(axis), [x]) => {
            let parts = Parts::new(graph, *x, *axis)?;
            let inverse = graph.unary(UnaryOp::Recip, parts.total);
            graph.mul_of(parts.exponentials, inverse).map(Some)
        }
        (Op::LogSoftmax(axis), [x]) => {
            let parts = Parts::new(graph, *x, *axis)?;
            let log = graph.unary(UnaryOp::Log, parts.total);
            graph.sub_of(parts.centred, log).map(Some)
        }
        (Op::Unary(op @ (UnaryOp::Sigmoid | UnaryOp::LogSigmoid)), [x]) if shares => sigmoid(graph, *op, *x).map(Some),
        _ => Ok(None),
    }
}

struct Parts {
    largest: NodeId,
    centred: NodeId,
    exponentials: NodeId,
    total: NodeId,
}

impl Parts {
    fn new(graph: &mut Graph, x: NodeId, axis: usize) -> Result<Self> {
        let largest = graph.reduce(ReduceOp::Max, x, axis)?;
        // −∞ − (−∞) would not be a number, where log Σ exp is −∞.
        let infinite = graph.unary(UnaryOp::IsInfinite, largest);
        let zero = graph.scalar(0.0);
        let largest = graph.select_where(infinite, zero, largest)?;
        let centred = graph.sub_of(x, largest)?;
        let exponentials = graph.unary(UnaryOp::Exp, centred);
        let total = graph.reduce(ReduceOp::Sum, exponentials, axis)?;
        Ok(Self { largest, centred, exponentials, total })
    }
}

fn sigmoid(graph: &mut Graph, op: UnaryOp, argument: NodeId) -> Result<NodeId> {
    let (x, sign) = without_sign(graph, argument);
    let size = graph.unary(UnaryOp::Abs, x);
    let exponent = graph.negative(size);
    let small = graph.unary(UnaryOp::Exp, exponent);
    let zero = graph.scalar(0.0);
    if op == UnaryOp::LogSigmoid {
        let log = graph.unary(UnaryOp::Log1p, small);
        let bent = graph.binary(BinaryOp::Min, argument, zero)?;
        return graph.sub_of(bent, log);
    }
    let below = graph.affine(small, 1.0, 1.0);
    let inverse = graph.unary(UnaryOp::Recip, below);
    let other = graph.mul_of(small, inverse)?;
    let negative = graph.compare(CompareOp::Less, x, zero)?;
    if sign > 0.0 { graph.select_where(negative, other, inverse) } else { graph.select_where(negative, inverse, other) }
}
