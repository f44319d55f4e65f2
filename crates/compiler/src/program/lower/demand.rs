//! The order in which nodes are lowered.
//!
//! A node is lowered after the nodes whose values its instructions read. The traversal uses an explicit stack instead
//! of recursion, because a graph can be as deep as the user's loops and the stack of a thread is small.

use super::Lowering;
use crate::error::Result;
use crate::graph::{BinaryOp, NodeId, Op, ReduceOp};

impl Lowering<'_> {
    /// Lowers node `id` and the nodes that it depends on.
    pub(super) fn demand(&mut self, id: NodeId) -> Result<()> {
        debug_assert!(!self.is_lowering, "a node is needed that `operands` does not list");
        let mut stack = vec![(id, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.values[id.index()].is_some() {
                continue;
            }
            if ready {
                let before = std::mem::replace(&mut self.is_lowering, true);
                let value = self.lower(id);
                self.is_lowering = before;
                self.values[id.index()] = Some(value?);
            } else {
                stack.push((id, true));
                stack.extend(self.operands(id).into_iter().rev().map(|operand| (operand, false)));
            }
        }
        Ok(())
    }

    /// Returns the nodes whose values are read when node `id` is lowered, in this order.
    fn operands(&self, id: NodeId) -> Vec<NodeId> {
        let node = self.graph.node(id);
        match (&node.op, node.inputs.as_slice()) {
            (Op::Reduce(ReduceOp::Sum, _), [x]) => match self.selected_rows(id, *x) {
                Some(rows) => rows.map(|row| row.at).to_vec(),
                None => vec![*x],
            },
            (Op::SumRows, [x]) => self.summed(*x),
            (Op::Matmul, [a, b]) => match self.multiplied(*a, *b) {
                Some(product) => vec![product.matrix],
                None => vec![*a, *b],
            },
            (Op::Select(_), [source, at]) if self.read_in_place(id, *source).is_some() => vec![*at],
            (_, inputs) => inputs.to_vec(),
        }
    }

    /// Returns the nodes whose values are read by the sum of node `x` over the observations.
    fn summed(&self, x: NodeId) -> Vec<NodeId> {
        let node = self.graph.node(x);
        let rows = |id: &NodeId| self.graph.shape(*id).rows;
        match (&node.op, node.inputs.as_slice()) {
            (Op::Matmul, [a, b]) if rows(a) || rows(b) => match self.contracted(*a, *b) {
                Some(contraction) => vec![contraction.coefficients],
                None => vec![*a, *b],
            },
            (Op::SelectAdjoint { .. } | Op::GatherAdjoint { .. }, [values, at]) => vec![*values, *at],
            (Op::Binary(BinaryOp::Mul), [a, b]) if rows(a) && rows(b) => vec![*a, *b],
            _ => vec![x],
        }
    }
}
