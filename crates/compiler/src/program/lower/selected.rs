//! Lowering of products with selected rows of parameter matrices, as in matrix factorization.
//!
//! The rows are read in place. Gathering and transposing them would copy each row several times for one multiplication.

use super::{IN_PLACE_WIDTH, Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, Kind, NodeId, Op};
use crate::program::indexed::SelectedRow;
use crate::program::instruction::Instruction;

/// A selected row of a parameter matrix before its index is lowered.
pub(super) struct Row {
    leaf: usize,
    length: usize,
    width: usize,
    pub(super) at: NodeId,
}

impl Lowering<'_> {
    /// Returns the two rows of the dot product that node `id` computes, if it is the sum over all elements of node `x`
    /// and `x` is the product of two selected rows.
    pub(super) fn selected_rows(&self, id: NodeId, x: NodeId) -> Option<[Row; 2]> {
        let node = self.graph.node(x);
        let (Op::Binary(BinaryOp::Mul), [a, b]) = (&node.op, node.inputs.as_slice()) else { return None };
        let (a, b) = (self.row(*a)?, self.row(*b)?);
        (self.graph.shape(id).size() == 1 && a.width == b.width).then_some([a, b])
    }

    /// Lowers node `id`, the dot product of two rows.
    pub(super) fn dot_selected(&mut self, id: NodeId, [a, b]: &[Row; 2]) -> Result<Value> {
        let rows = [self.selected(a)?, self.selected(b)?];
        let out = self.buffer_for(id);
        self.tile.push(Instruction::DotSelected { rows, width: a.width, out });
        Ok(self.whole(out, id))
    }

    /// Returns the instruction that adds `factor` · `values` to row `at` of the gradient of a parameter matrix, if the
    /// values are a number times a selected row.
    pub(super) fn add_selected(
        &mut self,
        leaf: usize,
        length: usize,
        at: NodeId,
        values: NodeId,
        factor: f64,
    ) -> Result<Option<Instruction>> {
        let node = self.graph.node(values);
        let (Op::Binary(BinaryOp::Mul), [a, b]) = (&node.op, node.inputs.as_slice()) else { return Ok(None) };
        let [a, b] = [*a, *b];
        let found = [(a, b), (b, a)].into_iter().find_map(|(row, number)| Some((self.row(row)?, self.number(number)?)));
        let Some((from, number)) = found.filter(|_| self.integer(at)) else { return Ok(None) };
        let to = Row { leaf, length, width: from.width, at };
        let (from, to, width) = (self.selected(&from)?, self.selected(&to)?, to.width);
        let coefficients = self.view(number)?.location();
        Ok(Some(Instruction::AddSelected { from, to, width, coefficients, factor }))
    }

    /// Returns the selected row of a node, if it is one and only axes of size one were moved.
    fn row(&self, id: NodeId) -> Option<Row> {
        let node = self.graph.node(self.graph.strip_ops(id, |op| *op == Op::Reshape));
        match (&node.op, node.inputs.as_slice()) {
            (Op::Select(0), [source, at]) => {
                let (Op::Parameter(leaf), [length, ..]) =
                    (&self.graph.node(*source).op, self.graph.shape(*source).dims.as_slice())
                else {
                    return None;
                };
                let width = node.shape.size();
                let wide = width >= IN_PLACE_WIDTH && node.kind == Kind::Float;
                (wide && self.integer(*at)).then_some(Row { leaf: *leaf, length: *length, width, at: *at })
            }
            _ => None,
        }
    }

    /// Returns whether a node is one integer per observation.
    fn integer(&self, id: NodeId) -> bool {
        let shape = self.graph.shape(id);
        shape.rows && shape.size() == 1
    }

    /// Returns the node with one number per observation that node `id` repeats, if it does.
    fn number(&self, id: NodeId) -> Option<NodeId> {
        let id = self.graph.strip_ops(id, |op| matches!(op, Op::Reshape | Op::Expand));
        let shape = self.graph.shape(id);
        (shape.rows && shape.size() == 1).then_some(id)
    }

    fn selected(&mut self, row: &Row) -> Result<SelectedRow> {
        let index = self.view(row.at)?;
        Ok(SelectedRow { leaf: row.leaf, length: row.length, index: index.buffer, feature: index.offset })
    }
}
