//! Operations on masks.

use burn_ir::{BinaryOpIr, BoolOperationIr, ScalarOpIr, TensorIr};
use sgmcmc_compiler::graph::{CompareOp, Kind, LogicOp, NodeId, ReduceOp, UnaryOp};

use super::constant::scalar;
use super::{Importer, Result, kind_of};

impl Importer<'_> {
    /// Imports an operation on masks.
    pub(super) fn boolean(&mut self, op: &BoolOperationIr) -> Result<()> {
        let (op, ir) = match op {
            BoolOperationIr::IntoFloat(ir) | BoolOperationIr::IntoInt(ir) => return self.converted(ir),
            BoolOperationIr::Not(ir) => return self.unary(UnaryOp::Not, &ir.input, &ir.out),
            BoolOperationIr::And(ir) => (LogicOp::And, ir),
            BoolOperationIr::Or(ir) => (LogicOp::Or, ir),
            BoolOperationIr::Xor(ir) => (LogicOp::Xor, ir),
        };
        let node = self.logic(op, ir)?;
        self.set(&ir.out, node)
    }

    /// Imports a = b or a ≠ b, of numbers or masks.
    pub(super) fn equality(&mut self, equal: bool, ir: &BinaryOpIr) -> Result<()> {
        if kind_of(ir.lhs.dtype) != Kind::Mask {
            return self.compare(if equal { CompareOp::Equal } else { CompareOp::NotEqual }, ir);
        }
        let mut node = self.logic(LogicOp::Xor, ir)?;
        if equal {
            node = self.graph.unary(UnaryOp::Not, node);
        }
        self.set(&ir.out, node)
    }

    /// Imports a = c or a ≠ c for a scalar c, of numbers or masks.
    pub(super) fn equality_scalar(&mut self, equal: bool, ir: &ScalarOpIr) -> Result<()> {
        if kind_of(ir.lhs.dtype) != Kind::Mask {
            return self.compare_scalar(if equal { CompareOp::Equal } else { CompareOp::NotEqual }, ir);
        }
        let node = self.node(&ir.lhs)?;
        let keep = (scalar(ir.rhs) > 0.5) == equal;
        let node = if keep { node } else { self.graph.unary(UnaryOp::Not, node) };
        self.set(&ir.out, node)
    }

    /// Imports `all` (the minimum is not zero) or `any` (the maximum is not zero) along these axes.
    pub(super) fn quantified(
        &mut self,
        op: ReduceOp,
        input: &TensorIr,
        axes: impl IntoIterator<Item = usize>,
        out: &TensorIr,
    ) -> Result<()> {
        let mask = self.as_mask(input)?;
        let ones = self.graph.cast(mask, Kind::Float);
        let reduced = self.reduced(op, ones, input, axes)?;
        let half = self.graph.scalar(0.5);
        let node = self.graph.compare(CompareOp::Greater, reduced, half)?;
        let node = self.reshape(node, self.extent(out).own())?;
        self.set(out, node)
    }

    /// Returns the mask of the elements that are not zero.
    fn as_mask(&mut self, input: &TensorIr) -> Result<NodeId> {
        let node = self.node(input)?;
        if kind_of(input.dtype) == Kind::Mask {
            return Ok(node);
        }
        let zero = self.number_like(input, 0.0);
        Ok(self.graph.compare(CompareOp::NotEqual, node, zero)?)
    }
}
