//! The softmax with an additional one in its denominator.

use crate::error::Result;
use crate::graph::{BinaryOp, Graph, NodeId, Op, ReduceOp, UnaryOp};
use crate::shorthand::exact_eq;

/// Stops the gradient to m in exp(x − m)/(Σ exp(x − m) + exp(−m)), which does not depend on m.
///
/// m is the largest x. If it is far below zero, exp(−m) is infinite and the gradient to m would be NaN.
pub(super) fn softmax(graph: &mut Graph, above: NodeId, below: NodeId) -> Result<Option<NodeId>> {
    let Some((x, m)) =
        graph.argument(UnaryOp::Exp, above).and_then(|exponent| graph.arguments(BinaryOp::Sub, exponent))
    else {
        return Ok(None);
    };
    let Some((p, q)) = graph.arguments(BinaryOp::Add, below) else { return Ok(None) };
    let Some((axis, one)) = [(p, q), (q, p)].into_iter().find_map(|(sum, one)| match graph.node(sum).op {
        Op::Reduce(ReduceOp::Sum, axis) if graph.node(sum).inputs[0] == above => Some((axis, one)),
        _ => None,
    }) else {
        return Ok(None);
    };
    let opposite = graph.argument(UnaryOp::Exp, one).and_then(|exponent| graph.scaled(exponent));
    if !opposite.is_some_and(|(of, scale)| of == m && exact_eq(scale, -1.0))
        || graph.argument(UnaryOp::Detach, m).is_some()
    {
        return Ok(None);
    }
    let m = graph.unary(UnaryOp::Detach, m);
    let difference = graph.sub(x, m)?;
    let above = graph.unary(UnaryOp::Exp, difference);
    let sum = graph.reduce(ReduceOp::Sum, above, axis)?;
    let opposite = graph.neg(m);
    let one = graph.unary(UnaryOp::Exp, opposite);
    let below = graph.add(sum, one)?;
    graph.div(above, below).map(Some)
}
