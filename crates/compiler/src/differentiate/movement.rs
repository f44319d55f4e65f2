//! Adjoints of movement: the inverse movement, and a sum over repeated elements.

use crate::error::{Error, Result};
use crate::graph::{AxisSlice, Graph, Node, NodeId, Op};

/// Returns the adjoints of the inputs of a movement.
pub(super) fn backward(graph: &mut Graph, node: &Node, g: NodeId, required: &[bool]) -> Result<Vec<Option<NodeId>>> {
    let dims = graph.shape(node.inputs[0]).dims.clone();
    let part = match &node.op {
        Op::Reshape => graph.reshape(g, dims)?,
        Op::Permute(axes) => {
            let mut back = vec![0; axes.len()];
            axes.iter().enumerate().for_each(|(to, from)| back[*from] = to);
            graph.permute(g, &back)?
        }
        Op::Slice(slices) => graph.unslice(g, slices.clone(), dims)?,
        Op::Unslice(slices) => graph.slice(g, slices.clone())?,
        // `receive` sums over the repeated dimensions.
        Op::Expand => g,
        Op::Cat(axis) => return split_adjoint(graph, node, *axis, g, required),
        op => return Err(Error::NoGradient { operation: format!("{op:?}") }),
    };
    Ok(vec![Some(part)])
}

fn split_adjoint(
    graph: &mut Graph,
    node: &Node,
    axis: usize,
    g: NodeId,
    required: &[bool],
) -> Result<Vec<Option<NodeId>>> {
    let mut start = 0;
    let mut parts = Vec::new();
    for (input, required) in node.inputs.iter().zip(required) {
        let length = graph.shape(*input).dims[axis];
        let mut slices: Vec<AxisSlice> = node.shape.dims.iter().map(|size| AxisSlice::all(*size)).collect();
        slices[axis] = AxisSlice { start, length, step: 1 };
        parts.push(if *required { Some(graph.slice(g, slices)?) } else { None });
        start += length;
    }
    Ok(parts)
}

/// Sums `part` over the dimensions in which a value of dimensions `dims` was repeated.
pub(super) fn unbroadcast(graph: &mut Graph, part: NodeId, dims: &[usize]) -> Result<NodeId> {
    let from = graph.shape(part).dims.clone();
    let added = from.len().saturating_sub(dims.len());
    let repeated = |axis: &usize| from[*axis] != 1 && (*axis < added || dims[*axis - added] == 1);
    let axes: Vec<usize> = (0..from.len()).filter(repeated).collect();
    let part = graph.sum(part, axes)?;
    graph.reshape(part, dims)
}
