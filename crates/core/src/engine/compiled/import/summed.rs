//! Operations on a sum over the observations. They must be linear, so that they can be applied to the terms.

use burn_ir::{BaseOperationIr, NumericOperationIr, OperationIr, TensorIr};

use super::{Importer, Result, number};
use crate::engine::compiled::compile_error::CompileError;

impl Importer<'_> {
    /// Returns whether the result of `operation` is a sum over the observations because its inputs are.
    ///
    /// # Errors
    ///
    /// Returns an error if an input is such a sum and the operation is not linear in it.
    pub(super) fn keeps_sum(&self, operation: &OperationIr) -> Result<bool> {
        if !operation.inputs().any(|tensor| self.is_summed(tensor)) {
            return Ok(false);
        }
        if operation.inputs().any(|tensor| self.extent(tensor).row.is_some()) {
            return Err(self.mixed_rows());
        }
        let linear = match operation {
            OperationIr::NumericFloat(_, op) => self.is_linear(op)?,
            OperationIr::BaseFloat(op) => match op {
                BaseOperationIr::Reshape(_)
                | BaseOperationIr::SwapDims(_)
                | BaseOperationIr::Permute(_)
                | BaseOperationIr::Slice(_)
                | BaseOperationIr::Cast(_) => true,
                BaseOperationIr::Expand(ir) => self.extent(&ir.out).row.is_none(),
                BaseOperationIr::Cat(ir) => ir.tensors.iter().all(|tensor| self.is_summed(tensor)),
                _ => false,
            },
            _ => false,
        };
        if linear { Ok(true) } else { Err(self.nonlinear_sum()) }
    }

    /// Returns whether an operation is linear in its summed inputs.
    fn is_linear(&self, op: &NumericOperationIr) -> Result<bool> {
        use NumericOperationIr as Ir;
        match op {
            Ir::Neg(_) | Ir::MulScalar(_) | Ir::DivScalar(_) => Ok(true),
            Ir::Sum(_) | Ir::SumDim(_) | Ir::SumDims(_) | Ir::Mean(_) | Ir::MeanDim(_) => Ok(true),
            Ir::Add(ir) | Ir::Sub(ir) => {
                if self.is_summed(&ir.lhs) && self.is_summed(&ir.rhs) {
                    Ok(true)
                } else {
                    Err(added_once())
                }
            }
            Ir::AddScalar(_) | Ir::SubScalar(_) => Err(added_once()),
            Ir::Mul(ir) => Ok(self.is_summed(&ir.lhs) != self.is_summed(&ir.rhs)),
            Ir::Div(ir) => Ok(self.is_summed(&ir.lhs) && !self.is_summed(&ir.rhs)),
            _ => Ok(false),
        }
    }

    /// Returns whether a tensor is a sum over the observations.
    fn is_summed(&self, tensor: &TensorIr) -> bool {
        self.values[number(tensor)].is_some_and(|value| value.summed)
    }

    /// Returns the error for an operation that is not linear.
    fn nonlinear_sum(&self) -> CompileError {
        let operation = self.current();
        CompileError::new(format!(
            "`{operation}` is applied to a sum over the rows, which is not a sum of terms of single rows any more; \
             return one term per row"
        ))
    }
}

/// Returns the error for a term that is added once to a sum over the observations.
fn added_once() -> CompileError {
    CompileError::new(
        "something is added to a sum over the rows once for the whole minibatch, whatever its size; \
         add it to the term of each row, or to the log-prior",
    )
}
