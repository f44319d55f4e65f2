//! Operations on tensors of all kinds: movement, selection and comparison of elements.

use burn_ir::BaseOperationIr;
use sgmcmc_compiler::graph::ReduceOp;

use super::{Importer, Result};

impl Importer<'_> {
    /// Imports an operation on tensors of any kind.
    pub(super) fn base(&mut self, op: &BaseOperationIr) -> Result<()> {
        use BaseOperationIr as Ir;
        match op {
            Ir::Reshape(ir) => self.reshaped(ir),
            Ir::SwapDims(ir) => {
                let mut axes: Vec<usize> = (0..ir.input.shape.len()).collect();
                axes.swap(ir.dim1, ir.dim2);
                self.permuted(&ir.input, &axes, &ir.out)
            }
            Ir::Permute(ir) => self.permuted(&ir.input, &ir.axes, &ir.out),
            Ir::Expand(ir) => self.expanded(&ir.input, &ir.out),
            Ir::RepeatDim(ir) => self.repeated(ir),
            Ir::Cat(ir) => self.concatenated(ir),
            Ir::Flip(ir) => self.flipped(ir),
            Ir::Slice(ir) => self.sliced(ir),
            Ir::SliceAssign(ir) => self.slice_assigned(ir),

            Ir::Select(ir) => self.select(ir),
            Ir::SelectAssign(ir) => self.select_assign(ir),
            Ir::Gather(ir) => self.gather(ir),
            Ir::Scatter(ir) => self.scatter(ir),

            Ir::MaskWhere(ir) => self.mask_where(ir),
            Ir::MaskFill(ir) => self.mask_fill(ir),
            Ir::Equal(ir) => self.equality(true, ir),
            Ir::NotEqual(ir) => self.equality(false, ir),
            Ir::EqualElem(ir) => self.equality_scalar(true, ir),
            Ir::NotEqualElem(ir) => self.equality_scalar(false, ir),
            Ir::All(ir) => self.quantified(ReduceOp::Min, &ir.input, 0..ir.input.shape.len(), &ir.out),
            Ir::Any(ir) => self.quantified(ReduceOp::Max, &ir.input, 0..ir.input.shape.len(), &ir.out),
            Ir::AllDim(ir) => self.quantified(ReduceOp::Min, &ir.input, [ir.axis], &ir.out),
            Ir::AnyDim(ir) => self.quantified(ReduceOp::Max, &ir.input, [ir.axis], &ir.out),

            Ir::Cast(ir) => self.converted(ir),
            // The content of an empty tensor depends on the device. CPU devices fill it with zeros.
            Ir::Empty(ir) | Ir::Zeros(ir) => self.filled(&ir.out, 0.0),
            Ir::Ones(ir) => self.filled(&ir.out, 1.0),
            Ir::Unfold(_) | Ir::ScatterNd(_) | Ir::GatherNd(_) => Err(self.unsupported()),
        }
    }
}
