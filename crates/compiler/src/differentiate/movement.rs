//! Movement: the adjoint goes the way back, and is summed where elements were repeated.

use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Op, Stretch};

/// The adjoints of the inputs of a movement.
pub(super) fn backward(graph: &mut Graph, node: &Node, g: NodeId, wanted: &[bool]) -> Result<Vec<Option<NodeId>>> {
    let dims = graph.shape(node.inputs[0]).dims.clone();
    let part = match &node.op {
        Op::Reshape => graph.reshape(g, dims)?,
        Op::Permute(axes) => {
            let mut back = vec![0; axes.len()];
            axes.iter().enumerate().for_each(|(to, from)| back[*from] = to);
            graph.permute(g, &back)?
        }
        Op::Slice(stretches) => graph.unslice(g, stretches.clone(), dims)?,
        Op::Unslice(stretches) => graph.slice(g, stretches.clone())?,
        // The sum over the repeated dimensions is made where every adjoint is received.
        Op::Expand => g,
        Op::Cat(axis) => return parts_of(graph, node, *axis, g, wanted),
        op => return Err(Error::NoGradient { operation: format!("{op:?}") }),
    };
    Ok(vec![Some(part)])
}

fn parts_of(graph: &mut Graph, node: &Node, axis: usize, g: NodeId, wanted: &[bool]) -> Result<Vec<Option<NodeId>>> {
    let mut start = 0;
    let mut parts = Vec::new();
    for (input, wanted) in node.inputs.iter().zip(wanted) {
        let length = graph.shape(*input).dims[axis];
        let mut stretches: Vec<Stretch> = node.shape.dims.iter().map(|size| Stretch::all(*size)).collect();
        stretches[axis] = Stretch { start, length, step: 1 };
        parts.push(if *wanted { Some(graph.slice(g, stretches)?) } else { None });
        start += length;
    }
    Ok(parts)
}

/// `part` summed over the dimensions in which a value of `dims` was repeated.
pub(super) fn unbroadcast(graph: &mut Graph, part: NodeId, dims: &[usize]) -> Result<NodeId> {
    let from = graph.shape(part).dims.clone();
    let added = from.len().saturating_sub(dims.len());
    let repeated = |axis: &usize| from[*axis] != 1 && (*axis < added || dims[*axis - added] == 1);
    let axes: Vec<usize> = (0..from.len()).filter(repeated).collect();
    let part = graph.sum(part, axes)?;
    graph.reshape(part, dims)
}
