//! Copies of nodes from one graph to another.

use super::{Graph, Node, NodeId, Op};
use crate::error::{Error, Result};

impl Graph {
    /// Adds a node with the operation of `like` and other inputs. Passes use this function to rebuild a graph.
    ///
    /// `like` is the node in the graph `from`.
    ///
    /// # Errors
    ///
    /// Returns an error if the shapes are incompatible.
    pub fn rebuild(&mut self, like: &Node, inputs: &[NodeId], from: &Graph) -> Result<NodeId> {
        match (&like.op, inputs) {
            (Op::Constant(number), _) => {
                let values = from.constant_values(*number).clone();
                self.constant(values, like.shape.dims.clone(), like.kind)
            }
            (Op::Parameter(_) | Op::Data(_) | Op::Weight | Op::Full(_) | Op::Variable(_), _) => {
                Ok(self.insert(like.op.clone(), vec![], like.shape.clone(), like.kind))
            }
            (Op::Unary(op), [x]) => Ok(self.unary(*op, *x)),
            (Op::Binary(op), [a, b]) => self.binary(*op, *a, *b),
            (Op::Compare(op), [a, b]) => self.compare(*op, *a, *b),
            (Op::Logic(op), [a, b]) => self.logic(*op, *a, *b),
            (Op::Where, [mask, a, b]) => self.select_where(*mask, *a, *b),
            (Op::Cast, [x]) => Ok(self.cast(*x, like.kind)),
            (Op::Reshape, [x]) => self.reshape(*x, like.shape.dims.clone()),
            (Op::Permute(axes), [x]) => self.permute(*x, axes),
            (Op::Slice(slices), [x]) => self.slice(*x, slices.clone()),
            (Op::Unslice(slices), [x]) => self.unslice(*x, slices.clone(), like.shape.dims.clone()),
            (Op::Expand, [x]) => self.expand(*x, like.shape.dims.clone()),
            (Op::Cat(axis), parts) => self.cat(parts, *axis),
            (Op::Reduce(op, axis), [x]) => self.reduce(*op, *x, *axis),
            (Op::CumSum { axis, reverse }, [x]) => self.cumsum(*x, *axis, *reverse),
            (Op::SumRows, [x]) => Ok(self.sum_rows(*x)),
            (Op::LogSumExp(axis), [x]) => self.log_sum_exp(*x, *axis),
            (Op::Softmax(axis), [x]) => self.softmax(*x, *axis),
            (Op::LogSoftmax(axis), [x]) => self.log_softmax(*x, *axis),
            (Op::Matmul, [a, b]) => self.matmul(*a, *b),
            (Op::Cholesky, [x]) => self.cholesky(*x),
            (Op::CholeskyAdjoint, [factor, adjoint]) => self.cholesky_adjoint(*factor, *adjoint),
            (Op::SolveLower { transposed }, [factor, rhs]) => self.solve_lower(*factor, *rhs, *transposed),
            (Op::Select(axis), [source, index]) => self.select(*source, *index, *axis),
            (Op::SelectAdjoint { axis, length }, [values, index]) => {
                self.select_adjoint(*values, *index, *axis, *length)
            }
            (Op::Gather(axis), [source, index]) => self.gather(*source, *index, *axis),
            (Op::GatherAdjoint { axis, length }, [values, index]) => {
                self.gather_adjoint(*values, *index, *axis, *length)
            }
            (Op::Scan(recurrence), inputs) => self.scan(recurrence.clone(), inputs),
            (op, inputs) => Err(Error::shape("a node", format!("{op:?} with {} inputs", inputs.len()))),
        }
    }
}
