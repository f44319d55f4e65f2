//! Lowering of sums of all elements of a value, over all observations if each has its own.
//!
//! A sum moves through linear operations: Σ (s x + c) = s Σ x + c · count, Σ (a + b) = Σ a + Σ b, and nested sums over
//! axes become one sum. The remaining summands are values and products. A product that is only summed needs no buffer.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, Kind, NodeId, Op, ReduceOp, UnaryOp};
use crate::program::view::{BufferId, Location};

/// The sum over the elements of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Total {
    /// The number that every observation adds.
    pub(crate) constant: f64,
    pub(crate) summands: Vec<Summand>,
}

/// A factor times a sum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summand {
    pub(crate) factor: f64,
    /// The number of features in the sum.
    pub(crate) size: usize,
    pub(crate) elements: Summed,
}

/// The elements of a sum: contiguous features of a buffer, from an offset on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Summed {
    /// The elements of one value; `rows` is true if each observation has its own.
    Value { at: Location, rows: bool },
    /// The elements of the product of two values, which are both per observation or both shared.
    Product { at: [Location; 2], rows: bool },
}

impl Summand {
    /// Returns the per-row buffers that the sum reads.
    pub(crate) fn row_buffers(&mut self) -> Vec<&mut BufferId> {
        match &mut self.elements {
            Summed::Value { at, rows: true } => vec![&mut at.buffer],
            Summed::Product { at: [a, b], rows: true } => vec![&mut a.buffer, &mut b.buffer],
            Summed::Value { .. } | Summed::Product { .. } => vec![],
        }
    }
}

impl Lowering<'_> {
    /// Lowers the sum of the elements of node `id`.
    pub(crate) fn total(&mut self, id: NodeId) -> Result<Total> {
        let mut total = Total::default();
        let mut stack = vec![(id, 1.0)];
        while let Some((id, factor)) = stack.pop() {
            let node = self.graph.node(id);
            let count = node.shape.size() as f64;
            let inputs = node.inputs.as_slice();
            let float = node.kind == Kind::Float && inputs.iter().all(|id| self.graph.node(*id).kind == Kind::Float);
            let same = inputs.iter().all(|input| self.graph.shape(*input).size() == node.shape.size());
            match (&node.op, inputs) {
                (Op::Binary(BinaryOp::Add), [a, b]) if float && same => stack.extend([(*a, factor), (*b, factor)]),
                (Op::Binary(BinaryOp::Sub), [a, b]) if float && same => stack.extend([(*a, factor), (*b, -factor)]),
                (Op::Unary(UnaryOp::Neg), [x]) if float => stack.push((*x, -factor)),
                (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if float => {
                    total.constant += factor * shift.0 * count;
                    stack.push((*x, factor * scale.0));
                }
                (Op::Reshape | Op::Permute(_), [x]) if float => stack.push((*x, factor)),
                (Op::Reduce(ReduceOp::Sum, _), [x]) if float => stack.push((*x, factor)),
                (Op::Unary(UnaryOp::Square), [x]) if float => self.add_product(&mut total, id, [*x, *x], factor)?,
                (Op::Binary(BinaryOp::Mul), [a, b]) if float && same => {
                    self.add_product(&mut total, id, [*a, *b], factor)?;
                }
                _ => self.add_value(&mut total, id, factor)?,
            }
        }
        Ok(total)
    }

    fn add_value(&mut self, total: &mut Total, id: NodeId, factor: f64) -> Result<()> {
        let size = self.graph.shape(id).size();
        if let Value::Number(number) = self.value(id)? {
            total.constant += factor * number * size as f64;
        } else {
            let view = self.contiguous(id)?;
            let elements = Summed::Value { at: view.location(), rows: view.rows };
            total.summands.push(Summand { factor, size, elements });
        }
        Ok(())
    }

    fn add_product(&mut self, total: &mut Total, id: NodeId, inputs: [NodeId; 2], factor: f64) -> Result<()> {
        let [a, b] = inputs.map(|input| self.graph.shape(input).clone());
        // Sum the value directly if it is computed anyway, or if an operand would have to be broadcast first.
        if self.values[id.index()].is_some() || a != b {
            return self.add_value(total, id, factor);
        }
        let [a, b] = [self.contiguous(inputs[0])?, self.contiguous(inputs[1])?];
        let elements = Summed::Product { at: [a.location(), b.location()], rows: a.rows };
        total.summands.push(Summand { factor, size: a.size(), elements });
        Ok(())
    }
}
