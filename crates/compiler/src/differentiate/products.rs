//! Adjoints of the matrix product: C = A B has the adjoints G Bᵀ and Aᵀ G.

use crate::error::Result;
use crate::graph::{Graph, NodeId};

/// Returns the required adjoints of A and B.
pub(super) fn backward(
    graph: &mut Graph,
    inputs: &[NodeId],
    g: NodeId,
    required: &[bool],
) -> Result<Vec<Option<NodeId>>> {
    let mut parts = vec![None, None];
    if required[0] {
        let other = graph.transpose(inputs[1])?;
        parts[0] = Some(graph.matmul(g, other)?);
    }
    if required[1] {
        let other = graph.transpose(inputs[0])?;
        parts[1] = Some(graph.matmul(other, g)?);
    }
    Ok(parts)
}
