//! Reductions and the softmax family.
//!
//! log Σ exp: g softmax(x); softmax y: y (g − Σ g y); log-softmax: g − softmax(x) Σ g. The softmax shares its exponentials with
//! the value when both are lowered.

use crate::error::{Error, Result};
use crate::graph::{CompareOp, Graph, Kind, LogicOp, Node, NodeId, Op, ReduceOp, Stretch};

/// The adjoint of the input of a reduction with the result y.
pub(super) fn backward(graph: &mut Graph, node: &Node, y: NodeId, g: NodeId) -> Result<NodeId> {
    let x = node.inputs[0];
    let dims = graph.shape(x).dims.clone();
    match node.op {
        Op::SumRows => Ok(g),
        Op::Reduce(ReduceOp::Sum, _) => graph.expand(g, dims),
        Op::Reduce(ReduceOp::Max | ReduceOp::Min, axis) => {
            let chosen = first(graph, x, y, axis)?;
            let zero = graph.scalar(0.0);
            graph.select_where(chosen, g, zero)
        }
        Op::Reduce(ReduceOp::Prod, axis) => {
            let before = others(graph, x, axis, false)?;
            let after = others(graph, x, axis, true)?;
            let slope = graph.mul_of(before, after)?;
            graph.mul_of(g, slope)
        }
        Op::CumSum { axis, reverse } => graph.cumsum(g, axis, !reverse),
        Op::LogSumExp(axis) => {
            let shares = graph.softmax(x, axis)?;
            graph.mul_of(g, shares)
        }
        Op::Softmax(axis) => {
            let product = graph.mul_of(g, y)?;
            let total = graph.sum(product, [axis])?;
            let centred = graph.sub_of(g, total)?;
            graph.mul_of(y, centred)
        }
        Op::LogSoftmax(axis) => {
            let total = graph.sum(g, [axis])?;
            let shares = graph.softmax(x, axis)?;
            let product = graph.mul_of(shares, total)?;
            graph.sub_of(g, product)
        }
        ref op => Err(Error::NoGradient { operation: format!("{op:?}") }),
    }
}

/// A mask of the first element of each line that is the extreme one.
fn first(graph: &mut Graph, x: NodeId, extreme: NodeId, axis: usize) -> Result<NodeId> {
    let equal = graph.compare(CompareOp::Equal, x, extreme)?;
    let ones = graph.cast(equal, Kind::Float);
    let running = graph.cumsum(ones, axis, false)?;
    let one = graph.scalar(1.0);
    let not_before = graph.compare(CompareOp::Equal, running, one)?;
    graph.logic(LogicOp::And, equal, not_before)
}

/// The product of the elements before each (after it if `reverse`), by doubling: after k rounds, of the 2ᵏ nearest ones.
fn others(graph: &mut Graph, x: NodeId, axis: usize, reverse: bool) -> Result<NodeId> {
    let length = graph.shape(x).dims[axis];
    let mut products = shifted(graph, x, axis, 1, reverse)?;
    let mut distance = 1;
    while distance < length {
        let further = shifted(graph, products, axis, distance, reverse)?;
        products = graph.mul_of(products, further)?;
        distance *= 2;
    }
    Ok(products)
}

/// x moved by `distance` along the axis, with ones where nothing comes from.
fn shifted(graph: &mut Graph, x: NodeId, axis: usize, distance: usize, reverse: bool) -> Result<NodeId> {
    let dims = graph.shape(x).dims.clone();
    let mut stretches: Vec<Stretch> = dims.iter().map(|size| Stretch::all(*size)).collect();
    let start = if reverse { distance } else { 0 };
    stretches[axis] = Stretch { start, length: dims[axis] - distance, step: 1 };
    let kept = graph.slice(x, stretches)?;
    let mut margin = dims;
    margin[axis] = distance;
    let ones = graph.full(1.0, margin, Kind::Float);
    graph.cat(&if reverse { [kept, ones] } else { [ones, kept] }, axis)
}
