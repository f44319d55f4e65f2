//! Adjoints of indexing. The adjoint of a selection or gather is its transpose, and vice versa.

use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Op};

/// Returns the adjoint of the source or of the values. Indices have no adjoint.
pub(super) fn backward(graph: &mut Graph, node: &Node, g: NodeId) -> Result<NodeId> {
    let (source, index) = (node.inputs[0], node.inputs[1]);
    match node.op {
        Op::Select(axis) => {
            let length = graph.shape(source).dims[axis];
            graph.select_adjoint(g, index, axis, length)
        }
        Op::SelectAdjoint { axis, .. } if !graph.shape(g).rows => graph.select(g, index, axis),
        Op::SelectAdjoint { axis, .. } => select_of_row(graph, g, index, axis),
        Op::Gather(axis) => {
            let length = graph.shape(source).dims[axis];
            graph.gather_adjoint(g, index, axis, length)
        }
        Op::GatherAdjoint { axis, .. } => graph.gather(g, index, axis),
        ref op => Err(Error::NoGradient { operation: format!("{op:?}") }),
    }
}

/// Expresses a selection from a source that each observation has as a gather.
fn select_of_row(graph: &mut Graph, source: NodeId, index: NodeId, axis: usize) -> Result<NodeId> {
    let (mut dims, at) = (graph.shape(source).dims.clone(), graph.shape(index).dims.clone());
    let count = at.iter().product();
    let mut indices = vec![1; dims.len()];
    indices[axis] = count;
    let indices = graph.reshape(index, indices)?;
    dims[axis] = count;
    let indices = graph.expand(indices, dims.clone())?;
    let chosen = graph.gather(source, indices, axis)?;
    dims.splice(axis..=axis, at);
    graph.reshape(chosen, dims)
}
