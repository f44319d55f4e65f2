//! Matrix products: C = A B has the adjoints G Bᵀ and Aᵀ G.

use crate::error::Result;
use crate::graph::{Graph, NodeId};

/// The adjoints of A and B, those that are wanted.
pub(super) fn backward(
    graph: &mut Graph,
    inputs: &[NodeId],
    g: NodeId,
    wanted: &[bool],
) -> Result<Vec<Option<NodeId>>> {
    let mut parts = vec![None, None];
    if wanted[0] {
        let other = graph.transpose(inputs[1])?;
        parts[0] = Some(graph.matmul(g, other)?);
    }
    if wanted[1] {
        let other = graph.transpose(inputs[0])?;
        parts[1] = Some(graph.matmul(other, g)?);
    }
    Ok(parts)
}
