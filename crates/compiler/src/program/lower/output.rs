//! Lowering of the outputs of a program: the value of each row, shared values, and gradients.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, NodeId, Op, UnaryOp};
use crate::program::indexed::{SelectOperands, Table};
use crate::program::instruction::Instruction;
use crate::program::view::{BufferId, View};

/// The value of each row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowValue {
    /// One value per row, in this buffer at this feature.
    Rows(BufferId, usize),
    /// The same value for all rows, in this buffer at this feature.
    Shared(BufferId, usize),
    /// The same number for all rows.
    Number(f64),
}

/// A term of the gradient of a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// Contiguous values of a buffer times a factor.
    Dense { buffer: BufferId, offset: usize, rows: bool, factor: f64 },
    /// A data row, read in place, times a coefficient of the observation, times a factor.
    DataRow { leaf: usize, coefficients: BufferId, offset: usize, factor: f64 },
    /// The same number for all elements.
    Number(f64),
}

/// The gradient of a parameter leaf, without the terms that instructions add in place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gradient {
    pub(crate) leaf: usize,
    pub(crate) size: usize,
    pub(crate) terms: Vec<Term>,
}

impl Lowering<'_> {
    pub(crate) fn row_value(&mut self, id: NodeId) -> Result<RowValue> {
        Ok(match self.value(id)? {
            Value::Number(number) => RowValue::Number(number),
            Value::View(view) if view.rows => RowValue::Rows(view.buffer, view.offset),
            Value::View(view) => RowValue::Shared(view.buffer, view.offset),
        })
    }

    /// Lowers the gradients of the parameter leaves that have one.
    pub(crate) fn gradients(&mut self, leaves: &[Option<NodeId>]) -> Result<Vec<Gradient>> {
        let leaves = leaves.iter().enumerate().filter_map(|(leaf, id)| id.map(|id| (leaf, id)));
        leaves.map(|(leaf, id)| self.gradient(leaf, id)).collect()
    }

    /// Lowers the gradient of parameter leaf `leaf`, which is node `id`.
    fn gradient(&mut self, leaf: usize, id: NodeId) -> Result<Gradient> {
        let mut terms = Vec::new();
        for (id, factor) in self.summands(id) {
            match self.in_place(leaf, id, factor)? {
                Some(instruction) => self.tile.push(instruction),
                None => terms.push(self.term(id, factor)?),
            }
        }
        Ok(Gradient { leaf, size: self.graph.shape(id).size(), terms })
    }

    /// Decomposes node `id` into a sum of nodes with factors. The final addition to the gradient performs the sums and
    /// multiplications.
    fn summands(&self, id: NodeId) -> Vec<(NodeId, f64)> {
        let mut stack = vec![(id, 1.0)];
        let mut summands = Vec::new();
        while let Some((id, factor)) = stack.pop() {
            let node = self.graph.node(id);
            let same_size = |input: &NodeId| self.graph.shape(*input).size() == node.shape.size();
            let same = node.inputs.iter().all(same_size);
            match (&node.op, node.inputs.as_slice()) {
                (Op::Binary(BinaryOp::Add), [a, b]) if same => stack.extend([(*a, factor), (*b, factor)]),
                (Op::Binary(BinaryOp::Sub), [a, b]) if same => stack.extend([(*a, factor), (*b, -factor)]),
                (Op::Unary(UnaryOp::Neg), [x]) => stack.push((*x, -factor)),
                (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if shift.0.abs() == 0.0 => {
                    stack.push((*x, factor * scale.0));
                }
                (Op::Reshape, [x]) => stack.push((*x, factor)),
                _ => summands.push((id, factor)),
            }
        }
        summands
    }

    /// Returns the instruction that adds node `id` to the gradient of the leaf in place, if it is the adjoint of a
    /// selection.
    fn in_place(&mut self, leaf: usize, id: NodeId, factor: f64) -> Result<Option<Instruction>> {
        let node = self.graph.node(id);
        let (summed, adjoint) = match (&node.op, node.inputs.as_slice()) {
            (Op::SumRows, [x]) => (true, *x),
            _ => (false, id),
        };
        let inner = self.graph.node(adjoint);
        let (Op::SelectAdjoint { axis, .. }, [values, at], true) =
            (&inner.op, inner.inputs.as_slice(), inner.shape.rows)
        else {
            return Ok(None);
        };
        // The addition performs the multiplication by the factor of the values.
        let node = self.graph.node(*values);
        let (values, own) = match (&node.op, node.inputs.as_slice()) {
            (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if shift.0.abs() == 0.0 => (*x, scale.0),
            _ => (*values, 1.0),
        };
        if let ([length, ..], 0, true) = (inner.shape.dims.as_slice(), *axis, summed)
            && let Some(added) = self.add_selected(leaf, *length, *at, values, factor * own)?
        {
            return Ok(Some(added));
        }
        let selection = self.select_adjoint_operands(Table::Parameter(leaf), &inner.shape.dims, *axis, values, *at)?;
        let selection = SelectOperands { factor: factor * own, ..selection };
        Ok(Some(if summed { Instruction::SelectAdjoint(selection) } else { Instruction::SelectAdjointRows(selection) }))
    }

    fn term(&mut self, id: NodeId, factor: f64) -> Result<Term> {
        if let Some((leaf, coefficients)) = self.multiple_of_data(id) {
            let View { buffer, offset, .. } = self.contiguous(coefficients)?;
            return Ok(Term::DataRow { leaf, coefficients: buffer, offset, factor });
        }
        if let Value::Number(number) = self.value(id)? {
            return Ok(Term::Number(number * factor));
        }
        let View { buffer, offset, rows, .. } = self.contiguous(id)?;
        Ok(Term::Dense { buffer, offset, rows, factor })
    }
}
