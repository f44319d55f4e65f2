//! Indexing by integer tensors: selection, gathering, and additions at indices.

use burn_ir::{EmbeddingOpIr, GatherOpIr, ScatterOpIr, SelectAssignOpIr, SelectOpIr};
use burn_tensor::IndexingUpdateOp;
use sgmcmc_compiler::graph::BinaryOp;

use super::{Importer, Result};

impl Importer<'_> {
    /// Imports the selection of `tensor` at a list of `indices` along `dim`.
    pub(super) fn select(&mut self, ir: &SelectOpIr) -> Result<()> {
        let source = self.extent(&ir.tensor);
        self.not_rows(&source, ir.dim)?;
        let (tensor, indices) = (self.node(&ir.tensor)?, self.node(&ir.indices)?);
        if !self.graph.shape(tensor).rows && source.row.is_none() {
            let node = self.graph.select(tensor, indices, ir.dim)?;
            return self.set(&ir.out, node);
        }
        // Each observation has its own source, so that the selection is a gather with the indices expanded to the other
        // axes.
        if self.extent(&ir.indices).row.is_some() {
            return Err(self.mixed_rows());
        }
        let axis = source.axis(ir.dim);
        let mut dims = self.graph.shape(tensor).dims.clone();
        let length = self.graph.shape(indices).size();
        let mut index_shape = vec![1; dims.len()];
        (index_shape[axis], dims[axis]) = (length, length);
        let indices = self.reshape(indices, index_shape)?;
        let indices = self.graph.expand(indices, dims)?;
        let node = self.graph.gather(tensor, indices, axis)?;
        self.set(&ir.out, node)
    }

    /// Imports the selection of `weights` at `indices` along the first axis.
    pub(super) fn embedding(&mut self, ir: &EmbeddingOpIr) -> Result<()> {
        if self.extent(&ir.weights).row.is_some() {
            return Err(self.mixed_rows());
        }
        let (weights, indices) = (self.node(&ir.weights)?, self.node(&ir.indices)?);
        let node = self.graph.select(weights, indices, 0)?;
        self.set(&ir.out, node)
    }

    /// Imports a gather: element i along `dim` is that of `tensor` at `indices[i]`.
    pub(super) fn gather(&mut self, ir: &GatherOpIr) -> Result<()> {
        let (source, index) = (self.extent(&ir.tensor), self.extent(&ir.indices));
        self.not_rows(&source, ir.dim)?;
        if index.is_row(ir.dim) {
            // All observations have the same source, and each has one index along the axis.
            let (tensor, indices) = (self.full(&ir.tensor)?, self.full(&ir.indices)?);
            let node = self.graph.gather(tensor, indices, ir.dim)?;
            return self.set_full(&ir.out, node);
        }
        let (tensor, indices) = (self.node(&ir.tensor)?, self.node(&ir.indices)?);
        if source.row != index.row {
            return Err(self.unsupported());
        }
        let node = self.graph.gather(tensor, indices, source.axis(ir.dim))?;
        self.set(&ir.out, node)
    }

    /// Imports the addition of `value` to `tensor` at `indices` along `dim`.
    pub(super) fn scatter(&mut self, ir: &ScatterOpIr) -> Result<()> {
        if ir.update != IndexingUpdateOp::Add {
            return Err(self.unsupported());
        }
        let (target, index, value) = (self.extent(&ir.tensor), self.extent(&ir.indices), self.extent(&ir.value));
        for extent in [&target, &index, &value] {
            self.not_rows(extent, ir.dim)?;
        }
        if target.row != index.row || target.row != value.row {
            return Err(self.unsupported());
        }
        let (tensor, indices, values) = (self.node(&ir.tensor)?, self.node(&ir.indices)?, self.node(&ir.value)?);
        let axis = target.axis(ir.dim);
        let sums = self.graph.gather_adjoint(values, indices, axis, target.full[ir.dim])?;
        let node = self.graph.binary(BinaryOp::Add, tensor, sums)?;
        self.set(&ir.out, node)
    }

    /// Imports the addition of `value` to `tensor` at a list of `indices` along `dim`.
    pub(super) fn select_assign(&mut self, ir: &SelectAssignOpIr) -> Result<()> {
        if ir.update != IndexingUpdateOp::Add {
            return Err(self.unsupported());
        }
        let (target, index, value) = (self.extent(&ir.tensor), self.extent(&ir.indices), self.extent(&ir.value));
        self.not_rows(&target, ir.dim)?;
        self.not_rows(&value, ir.dim)?;
        if index.row.is_some() || target.row != value.row {
            return Err(self.mixed_rows());
        }
        let (tensor, indices, values) = (self.node(&ir.tensor)?, self.node(&ir.indices)?, self.node(&ir.value)?);
        let sums = self.graph.select_adjoint(values, indices, target.axis(ir.dim), target.full[ir.dim])?;
        let node = self.graph.binary(BinaryOp::Add, tensor, sums)?;
        self.set(&ir.out, node)
    }
}
