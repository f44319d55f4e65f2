//! Sums of all elements of a value, over all observations where each has its own.
//!
//! A sum goes through what is linear: Σ (s x + c) = s Σ x + c · count, Σ (a + b) = Σ a + Σ b, and a sum of sums over axes is one sum.
//! What is left are sums of values and of products; a product that is summed needs no buffer.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{BinaryOp, Kind, NodeId, Op, ReduceOp, UnaryOp};
use crate::program::view::Store;

/// Σ over the elements of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Total {
    /// What every observation adds.
    pub(crate) constant: f64,
    pub(crate) summands: Vec<Summand>,
}

/// A factor times a sum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summand {
    pub(crate) factor: f64,
    /// Features that are summed over.
    pub(crate) size: usize,
    pub(crate) of: Summed,
}

/// Whose elements are summed: contiguous features of a buffer, from an offset on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Summed {
    /// Of one value; whether each observation has its own.
    Value { at: (Store, usize), rows: bool },
    /// Of the product of two values, that each observation has or that all share.
    Product { at: [(Store, usize); 2], rows: bool },
}

impl Summand {
    /// The buffers that it reads for each observation.
    pub(crate) fn row_stores(&mut self) -> Vec<&mut Store> {
        match &mut self.of {
            Summed::Value { at: (store, _), rows: true } => vec![store],
            Summed::Product { at: [(a, _), (b, _)], rows: true } => vec![a, b],
            Summed::Value { .. } | Summed::Product { .. } => vec![],
        }
    }
}

impl Lowering<'_> {
    /// The sum of the elements of node `id`.
    pub(crate) fn total(&mut self, id: NodeId) -> Result<Total> {
        let mut total = Total::default();
        let mut open = vec![(id, 1.0)];
        while let Some((id, factor)) = open.pop() {
            let node = self.graph.node(id);
            let count = node.shape.size() as f64;
            let inputs = node.inputs.as_slice();
            let float = node.kind == Kind::Float && inputs.iter().all(|id| self.graph.node(*id).kind == Kind::Float);
            let same = inputs.iter().all(|input| self.graph.shape(*input).size() == node.shape.size());
            match (&node.op, inputs) {
                (Op::Binary(BinaryOp::Add), [a, b]) if float && same => open.extend([(*a, factor), (*b, factor)]),
                (Op::Binary(BinaryOp::Sub), [a, b]) if float && same => open.extend([(*a, factor), (*b, -factor)]),
                (Op::Unary(UnaryOp::Neg), [x]) if float => open.push((*x, -factor)),
                (Op::Unary(UnaryOp::Affine { scale, shift }), [x]) if float => {
                    total.constant += factor * shift.0 * count;
                    open.push((*x, factor * scale.0));
                }
                (Op::Reshape | Op::Permute(_), [x]) if float => open.push((*x, factor)),
                (Op::Reduce(ReduceOp::Sum, _), [x]) if float => open.push((*x, factor)),
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
            let of = Summed::Value { at: (view.store, view.offset), rows: view.rows };
            total.summands.push(Summand { factor, size, of });
        }
        Ok(())
    }

    fn add_product(&mut self, total: &mut Total, id: NodeId, inputs: [NodeId; 2], factor: f64) -> Result<()> {
        let [a, b] = inputs.map(|input| self.graph.shape(input).clone());
        // What is computed anyway, or would have to be spread over the observations first, is summed as it is.
        if self.values[id.index()].is_some() || a != b {
            return self.add_value(total, id, factor);
        }
        let [a, b] = [self.contiguous(inputs[0])?, self.contiguous(inputs[1])?];
        let of = Summed::Product { at: [(a.store, a.offset), (b.store, b.offset)], rows: a.rows };
        total.summands.push(Summand { factor, size: a.size(), of });
        Ok(())
    }
}
