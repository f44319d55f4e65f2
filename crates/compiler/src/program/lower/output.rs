//! What a program hands out: the value of each row, shared values, and gradients.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, NodeId, Op, UnaryOp};
use crate::program::indexed::{Selection, Table};
use crate::program::instruction::Instruction;
use crate::program::view::{Store, View};

/// The value of each row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RowValue {
    /// Each has its own, in this buffer at this feature.
    Rows(Store, usize),
    /// All have the same.
    Shared(Store, usize),
    /// All have this one.
    Number(f64),
}

/// One of the terms whose sum is a leaf's gradient.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// Contiguous values of a buffer times a factor.
    Dense { store: Store, offset: usize, rows: bool, factor: f64 },
    /// A data row, read in place, times a number that each observation has, times a factor.
    DataRow { leaf: usize, coefficients: Store, offset: usize, factor: f64 },
    /// The same number for every element.
    Number(f64),
}

/// The gradient of a parameter leaf, apart from what instructions add in place.
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
            Value::View(view) if view.rows => RowValue::Rows(view.store, view.offset),
            Value::View(view) => RowValue::Shared(view.store, view.offset),
        })
    }

    /// The gradients of the parameter leaves, where there is one.
    pub(crate) fn gradients(&mut self, leaves: &[Option<NodeId>]) -> Result<Vec<Gradient>> {
        let leaves = leaves.iter().enumerate().filter_map(|(leaf, id)| id.map(|id| (leaf, id)));
        leaves.map(|(leaf, id)| self.gradient(leaf, id)).collect()
    }

    /// The gradient of parameter leaf number `leaf`, which is node `id`.
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

    /// The nodes whose sum, each times its factor, is node `id`: sums and factors are left to the last addition.
    fn summands(&self, id: NodeId) -> Vec<(NodeId, f64)> {
        let mut open = vec![(id, 1.0)];
        let mut summands = Vec::new();
        while let Some((id, factor)) = open.pop() {
            let node = self.graph.node(id);
            let same_size = |input: &NodeId| self.graph.shape(*input).size() == node.shape.size();
            let same = node.inputs.iter().all(same_size);
            match (&node.op, node.inputs.as_slice()) {
                (Op::Binary(BinaryOp::Add), [a, b]) if same => open.extend([(*a, factor), (*b, factor)]),
                (Op::Binary(BinaryOp::Sub), [a, b]) if same => open.extend([(*a, factor), (*b, -factor)]),
                (Op::Unary(UnaryOp::Neg), [x]) => open.push((*x, -factor)),
                (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if shift.0.abs() == 0.0 => {
                    open.push((*x, factor * scale.0));
                }
                (Op::Reshape, [x]) => open.push((*x, factor)),
                _ => summands.push((id, factor)),
            }
        }
        summands
    }

    /// The instruction that adds node `id` to the leaf's gradient row by row, if it is the adjoint of a selection.
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
        // A factor of the values is left to their addition.
        let node = self.graph.node(*values);
        let (values, own) = match (&node.op, node.inputs.as_slice()) {
            (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if shift.0.abs() == 0.0 => (*x, scale.0),
            _ => (*values, 1.0),
        };
        if let ([length, ..], 0, true) = (inner.shape.dims.as_slice(), *axis, summed)
            && let Some(added) = self.add_selected((leaf, *length), *at, (values, factor * own))?
        {
            return Ok(Some(added));
        }
        let selection = self.adjoint(Table::Parameter(leaf), &inner.shape.dims, *axis, values, *at)?;
        let selection = Selection { factor: factor * own, ..selection };
        Ok(Some(if summed { Instruction::SelectAdjoint(selection) } else { Instruction::SelectAdjointRows(selection) }))
    }

    fn term(&mut self, id: NodeId, factor: f64) -> Result<Term> {
        if let Some((leaf, coefficients)) = self.multiple_of_data(id) {
            let View { store, offset, .. } = self.contiguous(coefficients)?;
            return Ok(Term::DataRow { leaf, coefficients: store, offset, factor });
        }
        if let Value::Number(number) = self.value(id)? {
            return Ok(Term::Number(number * factor));
        }
        let View { store, offset, rows, .. } = self.contiguous(id)?;
        Ok(Term::Dense { store, offset, rows, factor })
    }
}
