//! Operations on integers, and conversions between kinds.

use burn_ir::{CastOpIr, IntOperationIr};

use super::{Importer, Result, kind_of};
use crate::engine::compiled::compile_error::CompileError;

impl Importer<'_> {
    /// Imports an operation on integers.
    pub(super) fn integer(&mut self, op: &IntOperationIr) -> Result<()> {
        match op {
            IntOperationIr::IntoFloat(ir) => self.converted(ir),
            _ => Err(self.unsupported()),
        }
    }

    /// Imports a conversion to another kind or type.
    pub(super) fn converted(&mut self, ir: &CastOpIr) -> Result<()> {
        let (from, to) = (ir.input.dtype, ir.out.dtype);
        let narrower = to.size() < from.size() && kind_of(from) == kind_of(to);
        let loses = narrower && !to.is_bool() || to.is_float() && to.size() < 4;
        if loses {
            let (from, to) = (from.name(), to.name());
            return Err(CompileError::new(format!(
                "a conversion from {from} to {to} loses digits, which cannot be compiled"
            )));
        }
        let node = self.node(&ir.input)?;
        let node = self.graph.cast(node, kind_of(to));
        self.set(&ir.out, node)
    }
}
