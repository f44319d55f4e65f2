//! Constant folding.

use super::{RewriteContext, Stage};
use crate::error::Result;
use crate::graph::{Graph, NodeId, Op};
use crate::reference::{Inputs, evaluate_nodes};

/// The maximum number of elements of a folded constant.
const MAX_SIZE: usize = 4096;

pub(super) fn apply(context: &mut RewriteContext<'_>, _: Stage) -> Result<Option<NodeId>> {
    let RewriteContext { graph, node, inputs, .. } = context;
    let constant = |id: &NodeId| matches!(graph.node(*id).op, Op::Full(_) | Op::Constant(_));
    if inputs.is_empty() || !inputs.iter().all(constant) {
        return Ok(None);
    }
    let (dims, kind) = (node.shape.dims.clone(), node.kind);
    let numbers: Option<Vec<f64>> = inputs.iter().map(|input| graph.number(*input)).collect();
    if let Some(numbers) = &numbers {
        match node.op {
            Op::Reshape | Op::Permute(_) | Op::Slice(_) | Op::Expand => {
                return Ok(Some(graph.full(numbers[0], dims, kind)));
            }
            Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Logic(_) | Op::Where | Op::Cast => {
                let kinds = inputs.iter().map(|input| graph.node(*input).kind);
                let mut small = Graph::new();
                let scalars: Vec<NodeId> =
                    numbers.iter().zip(kinds).map(|(number, kind)| small.full(*number, [], kind)).collect();
                let result = small.rebuild(node, &scalars, graph)?;
                let value = evaluate_nodes(&small, &Inputs::default(), 0, &[result])?;
                return Ok(Some(graph.full(value[0].values[0], dims, kind)));
            }
            _ => {}
        }
    }
    let small = |id: &NodeId| graph.shape(*id).size() <= MAX_SIZE;
    // An expanded constant would only need more memory.
    if node.op == Op::Expand || node.shape.size() > MAX_SIZE || !inputs.iter().all(small) {
        return Ok(None);
    }
    let mut subgraph = Graph::new();
    let mut leaves = Vec::new();
    for input in *inputs {
        leaves.push(subgraph.rebuild(graph.node(*input), &[], graph)?);
    }
    let result = subgraph.rebuild(node, &leaves, graph)?;
    let value = evaluate_nodes(&subgraph, &Inputs::default(), 0, &[result])?;
    graph.constant(value[0].values.clone(), dims, kind).map(Some)
}
