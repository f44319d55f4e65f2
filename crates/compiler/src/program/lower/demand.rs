//! The order in which nodes are lowered.
//!
//! A node is lowered after the nodes whose values its instructions read. The order is found with a list of open nodes instead of
//! recursion: the depth of a graph is that of the user's loops, and the stack of a chain's thread is small.

use super::Lowering;
use crate::error::Result;
use crate::graph::{BinaryOp, NodeId, Op, ReduceOp};

impl Lowering<'_> {
    /// Lowers node `id` and the nodes that it needs.
    pub(super) fn demand(&mut self, id: NodeId) -> Result<()> {
        debug_assert!(!self.busy, "a node is needed that `operands` does not list");
        let mut open = vec![(id, false)];
        while let Some((id, ready)) = open.pop() {
            if self.values[id.index()].is_some() {
                continue;
            }
            if ready {
                let before = std::mem::replace(&mut self.busy, true);
                let value = self.lower(id);
                self.busy = before;
                self.values[id.index()] = Some(value?);
            } else {
                open.push((id, true));
                open.extend(self.operands(id).into_iter().rev().map(|operand| (operand, false)));
            }
        }
        Ok(())
    }

    /// The nodes whose values are read when node `id` is lowered, in this order.
    fn operands(&self, id: NodeId) -> Vec<NodeId> {
        let node = self.graph.node(id);
        match (&node.op, node.inputs.as_slice()) {
            (Op::Reduce(ReduceOp::Sum, _), [x]) => match self.selected_rows(id, *x) {
                Some(rows) => rows.map(|row| row.at).to_vec(),
                None => vec![*x],
            },
            (Op::SumRows, [x]) => self.summed(*x),
            (Op::Matmul, [a, b]) => match self.multiplied(*a, *b) {
                Some((_, matrix, _)) => vec![matrix],
                None => vec![*a, *b],
            },
            (Op::Select(_), [source, at]) if self.read_in_place(id, *source).is_some() => vec![*at],
            (_, inputs) => inputs.to_vec(),
        }
    }

    /// The nodes whose values are read by the sum of node `x` over the observations.
    fn summed(&self, x: NodeId) -> Vec<NodeId> {
        let node = self.graph.node(x);
        let rows = |id: &NodeId| self.graph.shape(*id).rows;
        match (&node.op, node.inputs.as_slice()) {
            (Op::Matmul, [a, b]) if rows(a) || rows(b) => match self.contracted(*a, *b) {
                Some((_, coefficients, _)) => vec![coefficients],
                None => vec![*a, *b],
            },
            (Op::SelectAdjoint { .. } | Op::GatherAdjoint { .. }, [values, at]) => vec![*values, *at],
            (Op::Binary(BinaryOp::Mul), [a, b]) if rows(a) && rows(b) => vec![*a, *b],
            _ => vec![x],
        }
    }
}
