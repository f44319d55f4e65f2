//! Scheduling of nodes.

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Op};

/// The stage at which a node is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Once per run, before the rows: values that depend on the parameters alone.
    Before,
    /// For every tile of rows.
    Tile,
    /// Once per run, after the rows: values that depend on sums over the rows.
    After,
}

/// Returns the stage of every node. Sums over the rows are accumulated by the tiles and complete after them.
///
/// # Errors
///
/// Returns an error if the value of a row depends on a sum over the rows.
pub(crate) fn stages(graph: &Graph, needed: &[bool]) -> Result<Vec<Stage>> {
    let mut stages = vec![Stage::Before; graph.nodes().len()];
    for id in graph.ids().filter(|id| needed[id.index()]) {
        let node = graph.node(id);
        let after = |input: &NodeId| stages[input.index()] == Stage::After;
        stages[id.index()] = match (&node.op, node.shape.rows) {
            (Op::SumRows, _) => Stage::After,
            (_, true) if node.inputs.iter().any(after) => return Err(Error::MixedRows),
            (_, true) => Stage::Tile,
            (_, false) if node.inputs.iter().any(after) => Stage::After,
            (_, false) => Stage::Before,
        };
    }
    Ok(stages)
}

/// Returns which nodes the roots depend on, including the roots.
pub(crate) fn needed(graph: &Graph, roots: impl IntoIterator<Item = NodeId>) -> Vec<bool> {
    let mut needed = vec![false; graph.nodes().len()];
    let mut stack: Vec<NodeId> = roots.into_iter().collect();
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut needed[id.index()], true) {
            stack.extend(&graph.node(id).inputs);
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{BinaryOp, Kind};

    #[test]
    fn row_that_depends_on_all_rows_is_rejected() {
        let mut graph = Graph::new();
        let x = graph.data(0, [], Kind::Float);
        let total = graph.sum_rows(x);
        let centered = graph.binary(BinaryOp::Sub, x, total).unwrap();
        let needed = needed(&graph, [centered]);
        assert_eq!(stages(&graph, &needed), Err(Error::MixedRows));
        let only_total = super::needed(&graph, [total]);
        assert_eq!(stages(&graph, &only_total).unwrap()[total.index()], Stage::After);
    }
}
