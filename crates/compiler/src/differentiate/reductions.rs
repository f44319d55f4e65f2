//! Adjoints of reductions and of the softmax family.
//!
//! The adjoint of log Σ exp is g softmax(x), that of the softmax y is y (g − Σ g y), and that of the log-softmax is g −
//! softmax(x) Σ g. When the softmax is expanded, it shares its exponentials with the value.

use crate::error::{Error, Result};
use crate::graph::{AxisSlice, CompareOp, Graph, Kind, LogicOp, Node, NodeId, Op, ReduceOp};

/// Returns the adjoint of the input of a reduction with the result y.
pub(super) fn backward(graph: &mut Graph, node: &Node, y: NodeId, g: NodeId) -> Result<NodeId> {
    let x = node.inputs[0];
    let dims = graph.shape(x).dims.clone();
    match node.op {
        Op::SumRows => Ok(g),
        Op::Reduce(ReduceOp::Sum, _) => graph.expand(g, dims),
        Op::Reduce(ReduceOp::Max | ReduceOp::Min, axis) => {
            let chosen = first_extreme(graph, x, y, axis)?;
            let zero = graph.scalar(0.0);
            graph.select_where(chosen, g, zero)
        }
        Op::Reduce(ReduceOp::Prod, axis) => {
            let before = products_before(graph, x, axis, false)?;
            let after = products_before(graph, x, axis, true)?;
            let slope = graph.mul(before, after)?;
            graph.mul(g, slope)
        }
        Op::CumSum { axis, reverse } => graph.cumsum(g, axis, !reverse),
        Op::LogSumExp(axis) => {
            let shares = graph.softmax(x, axis)?;
            graph.mul(g, shares)
        }
        Op::Softmax(axis) => {
            let product = graph.mul(g, y)?;
            let total = graph.sum(product, [axis])?;
            let centered = graph.sub(g, total)?;
            graph.mul(y, centered)
        }
        Op::LogSoftmax(axis) => {
            let total = graph.sum(g, [axis])?;
            let shares = graph.softmax(x, axis)?;
            let product = graph.mul(shares, total)?;
            graph.sub(g, product)
        }
        ref op => Err(Error::NoGradient { operation: format!("{op:?}") }),
    }
}

/// Returns a mask of the first extreme element along the axis.
fn first_extreme(graph: &mut Graph, x: NodeId, extreme: NodeId, axis: usize) -> Result<NodeId> {
    let equal = graph.compare(CompareOp::Equal, x, extreme)?;
    let ones = graph.cast(equal, Kind::Float);
    let running = graph.cumsum(ones, axis, false)?;
    let one = graph.scalar(1.0);
    let not_before = graph.compare(CompareOp::Equal, running, one)?;
    graph.logic(LogicOp::And, equal, not_before)
}

/// Returns the product of the elements before each element (after it if `reverse` is true). Each round doubles the
/// distance: after k rounds the product contains the 2ᵏ nearest elements.
fn products_before(graph: &mut Graph, x: NodeId, axis: usize, reverse: bool) -> Result<NodeId> {
    let length = graph.shape(x).dims[axis];
    let mut products = shift(graph, x, axis, 1, reverse)?;
    let mut distance = 1;
    while distance < length {
        let further = shift(graph, products, axis, distance, reverse)?;
        products = graph.mul(products, further)?;
        distance *= 2;
    }
    Ok(products)
}

/// Shifts x by `distance` along the axis and fills with ones.
fn shift(graph: &mut Graph, x: NodeId, axis: usize, distance: usize, reverse: bool) -> Result<NodeId> {
    let dims = graph.shape(x).dims.clone();
    let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
    let start = if reverse { distance } else { 0 };
    slices[axis] = AxisSlice { start, length: dims[axis] - distance, step: 1 };
    let kept = graph.slice(x, slices)?;
    let mut margin = dims;
    margin[axis] = distance;
    let ones = graph.full(1.0, margin, Kind::Float);
    graph.cat(&if reverse { [kept, ones] } else { [ones, kept] }, axis)
}
