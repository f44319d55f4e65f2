//! Functions of matrices, which are recorded as custom operations. The axis of the observations may be a batch axis, or
//! the columns of a right-hand side.

use burn_ir::CustomOpIr;

use super::{Importer, Result};
use crate::matrix::MatrixFunction;

impl Importer<'_> {
    /// Imports a custom operation.
    pub(super) fn custom(&mut self, ir: &CustomOpIr) -> Result<()> {
        let function = MatrixFunction::from_name(&ir.id).ok_or_else(|| self.unsupported())?;
        let ([factor, rest @ ..], [out]) = (ir.inputs.as_slice(), ir.outputs.as_slice()) else {
            return Err(self.unsupported());
        };
        let extent = self.extent(factor);
        let rank = extent.full.len();
        self.not_rows(&extent, rank - 1)?;
        self.not_rows(&extent, rank - 2)?;
        let matrix = self.full(factor)?;
        let node = match (function, rest) {
            (MatrixFunction::Cholesky, []) => self.graph.cholesky(matrix)?,
            (MatrixFunction::SolveLower | MatrixFunction::SolveLowerTransposed, [rhs]) => {
                let extent = self.extent(rhs);
                self.not_rows(&extent, extent.full.len() - 2)?;
                let rhs = self.full(rhs)?;
                self.graph.solve_lower(matrix, rhs, function == MatrixFunction::SolveLowerTransposed)?
            }
            _ => return Err(self.unsupported()),
        };
        self.set_full(out, node)
    }
}
