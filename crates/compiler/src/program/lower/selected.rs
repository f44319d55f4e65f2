//! Products with rows of parameter matrices at integers that each observation has, as in the factorisation of a matrix.
//!
//! The rows are read where they lie: gathered and turned, each would be copied several times for one multiplication.

use super::{IN_PLACE, Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, Kind, NodeId, Op};
use crate::program::indexed::SelectedRow;
use crate::program::instruction::Instruction;

/// A row of a parameter matrix before its integer is computed.
pub(super) struct Row {
    leaf: usize,
    length: usize,
    width: usize,
    pub(super) at: NodeId,
}

impl Lowering<'_> {
    /// The two rows whose product is summed, if node `id` is the sum over all elements of node `x` and that is such a product.
    pub(super) fn selected_rows(&self, id: NodeId, x: NodeId) -> Option<[Row; 2]> {
        let node = self.graph.node(x);
        let (Op::Binary(BinaryOp::Mul), [a, b]) = (&node.op, node.inputs.as_slice()) else { return None };
        let (a, b) = (self.row(*a)?, self.row(*b)?);
        (self.graph.shape(id).size() == 1 && a.width == b.width).then_some([a, b])
    }

    /// Node `id`, the product of two rows.
    pub(super) fn dot_selected(&mut self, id: NodeId, [a, b]: &[Row; 2]) -> Result<Value> {
        let rows = [self.selected(a)?, self.selected(b)?];
        let out = self.fresh(id);
        self.tile.push(Instruction::DotSelected { rows, width: a.width, out });
        Ok(self.whole(out, id))
    }

    /// The instruction that adds `factor` · `values` to row `at` of the gradient of parameter leaf `leaf`, a matrix of `length` rows, if the
    /// values are a number times a row.
    pub(super) fn add_selected(
        &mut self,
        (leaf, length): (usize, usize),
        at: NodeId,
        (values, factor): (NodeId, f64),
    ) -> Result<Option<Instruction>> {
        let node = self.graph.node(values);
        let (Op::Binary(BinaryOp::Mul), [a, b]) = (&node.op, node.inputs.as_slice()) else { return Ok(None) };
        let [a, b] = [*a, *b];
        let found = [(a, b), (b, a)].into_iter().find_map(|(row, number)| Some((self.row(row)?, self.number(number)?)));
        let Some((from, number)) = found.filter(|_| self.integer(at)) else { return Ok(None) };
        let to = Row { leaf, length, width: from.width, at };
        let (from, to, width) = (self.selected(&from)?, self.selected(&to)?, to.width);
        let coefficients = self.view(number)?;
        let coefficients = (coefficients.store, coefficients.offset);
        Ok(Some(Instruction::AddSelected { from, to, width, coefficients, factor }))
    }

    /// The row that node is, if it is one and only axes of size one were moved.
    fn row(&self, id: NodeId) -> Option<Row> {
        let node = self.graph.node(self.graph.below(id, |op| *op == Op::Reshape));
        match (&node.op, node.inputs.as_slice()) {
            (Op::Select(0), [source, at]) => {
                let (Op::Parameter(leaf), [length, ..]) =
                    (&self.graph.node(*source).op, self.graph.shape(*source).dims.as_slice())
                else {
                    return None;
                };
                let width = node.shape.size();
                let wide = width >= IN_PLACE && node.kind == Kind::Float;
                (wide && self.integer(*at)).then_some(Row { leaf: *leaf, length: *length, width, at: *at })
            }
            _ => None,
        }
    }

    /// Whether a node is one integer that each observation has.
    fn integer(&self, id: NodeId) -> bool {
        let shape = self.graph.shape(id);
        shape.rows && shape.size() == 1
    }

    /// The node of one number per observation which node `id` repeats, if it does.
    fn number(&self, id: NodeId) -> Option<NodeId> {
        let id = self.graph.below(id, |op| matches!(op, Op::Reshape | Op::Expand));
        let shape = self.graph.shape(id);
        (shape.rows && shape.size() == 1).then_some(id)
    }

    fn selected(&mut self, row: &Row) -> Result<SelectedRow> {
        let index = self.view(row.at)?;
        Ok(SelectedRow { leaf: row.leaf, length: row.length, index: index.store, feature: index.offset })
    }
}
