//! What may be done with a sum over the rows: what is linear in it, so that it can be done to the terms.

use burn_ir::{BaseOperationIr, NumericOperationIr, OperationIr, TensorIr};

use super::{Importer, Result, number};
use crate::engine::compiled::reason::Reason;

impl Importer<'_> {
    /// Whether the result of `operation` is a sum over the rows because its inputs are.
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
        if linear { Ok(true) } else { Err(self.used_sum()) }
    }

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

    fn is_summed(&self, tensor: &TensorIr) -> bool {
        self.values[number(tensor)].is_some_and(|value| value.summed)
    }

    fn used_sum(&self) -> Reason {
        let operation = self.current();
        Reason::new(format!(
            "`{operation}` is applied to a sum over the rows, which is not a sum of terms of single rows any more; \
             return one term per row"
        ))
    }
}

fn added_once() -> Reason {
    Reason::new(
        "something is added to a sum over the rows once for the whole minibatch, whatever its size; \
         add it to the term of each row, or to the log-prior",
    )
}
