//! Matrix products. The axis of the observations may be the rows of the left factor, the columns of the right factor,
//! or a batch axis.

use burn_ir::{LinearOpIr, MatmulOpIr, ModuleOperationIr};
use sgmcmc_compiler::graph::BinaryOp;

use super::{Importer, Result};

impl Importer<'_> {
    /// Imports an operation of Burn's neural network modules.
    pub(super) fn module(&mut self, op: &ModuleOperationIr) -> Result<()> {
        match op {
            ModuleOperationIr::Linear(ir) => self.linear(ir),
            ModuleOperationIr::Embedding(ir) => self.embedding(ir),
            _ => Err(self.unsupported()),
        }
    }

    /// Imports a matrix product.
    pub(super) fn matmul(&mut self, ir: &MatmulOpIr) -> Result<()> {
        let (left, right) = (self.extent(&ir.lhs), self.extent(&ir.rhs));
        self.not_rows(&left, left.full.len() - 1)?;
        self.not_rows(&right, right.full.len() - 2)?;
        let (a, b) = (self.full(&ir.lhs)?, self.full(&ir.rhs)?);
        let node = self.graph.matmul(a, b)?;
        self.set_full(&ir.out, node)
    }

    /// Imports x W + b.
    fn linear(&mut self, ir: &LinearOpIr) -> Result<()> {
        let (x, weight, out) = (self.extent(&ir.x), self.extent(&ir.weight), self.extent(&ir.out));
        if weight.row.is_some() {
            return Err(self.unsupported());
        }
        self.not_rows(&x, x.full.len() - 1)?;
        let mut a = self.full(&ir.x)?;
        if let [length] = *x.full {
            a = self.reshape(a, vec![1, length])?;
        }
        let b = self.node(&ir.weight)?;
        let mut node = self.graph.matmul(a, b)?;
        if let Some(bias) = &ir.bias {
            if self.extent(bias).row.is_some() {
                return Err(self.unsupported());
            }
            let bias = self.node(bias)?;
            node = self.graph.binary(BinaryOp::Add, node, bias)?;
        }
        let node = self.reshape(node, out.own())?;
        self.set(&ir.out, node)
    }
}
