//! Element-wise operations on operands of the same rank, in which axes of size one are broadcast.

use burn_ir::{BinaryOpIr, MaskFillOpIr, MaskWhereOpIr, ScalarOpIr, TensorIr};
use sgmcmc_compiler::graph::{BinaryOp, CompareOp, Kind, LogicOp, NodeId, UnaryOp};

use super::constant::scalar;
use super::extent::Extent;
use super::{Importer, Result};

impl Importer<'_> {
    /// Returns an operand without the axis of the observations of the result.
    pub(super) fn operand(&mut self, tensor: &TensorIr, out: &Extent) -> Result<NodeId> {
        let node = self.node(tensor)?;
        let extent = self.extent(tensor);
        let Some(row) = out.dropped() else { return Ok(node) };
        match extent.row {
            Some(own) if own.axis == row && own.inner == 1 => Ok(node),
            // An axis of size one is broadcast to the observations, which requires no operation in the graph.
            None if extent.full.get(row) == Some(&1) => {
                let mut dims = extent.full;
                dims.remove(row);
                self.reshape(node, dims)
            }
            _ => Err(self.mixed_rows()),
        }
    }

    /// Imports a unary function.
    pub(super) fn unary(&mut self, op: UnaryOp, input: &TensorIr, out: &TensorIr) -> Result<()> {
        let node = self.node(input)?;
        let node = self.graph.unary(op, node);
        self.set(out, node)
    }

    /// Imports scale · x + shift.
    pub(super) fn affine(&mut self, input: &TensorIr, scale: f64, shift: f64, out: &TensorIr) -> Result<()> {
        let node = self.node(input)?;
        let node = self.graph.affine(node, scale, shift);
        self.set(out, node)
    }

    /// Imports a binary function.
    pub(super) fn binary(&mut self, op: BinaryOp, ir: &BinaryOpIr) -> Result<()> {
        let extent = self.extent(&ir.out);
        let (a, b) = (self.operand(&ir.lhs, &extent)?, self.operand(&ir.rhs, &extent)?);
        // Burn records a square as a product.
        let node = if op == BinaryOp::Mul && a == b && self.graph.node(a).kind == Kind::Float {
            self.graph.unary(UnaryOp::Square, a)
        } else {
            self.graph.binary(op, a, b)?
        };
        self.set(&ir.out, node)
    }

    /// Imports f(x, c) for a scalar c.
    pub(super) fn binary_scalar(&mut self, op: BinaryOp, ir: &ScalarOpIr) -> Result<()> {
        let node = self.node(&ir.lhs)?;
        let number = self.number_like(&ir.lhs, scalar(ir.rhs));
        let node = self.graph.binary(op, node, number)?;
        self.set(&ir.out, node)
    }

    /// Imports a comparison of two tensors.
    pub(super) fn compare(&mut self, op: CompareOp, ir: &BinaryOpIr) -> Result<()> {
        let extent = self.extent(&ir.out);
        let (a, b) = (self.operand(&ir.lhs, &extent)?, self.operand(&ir.rhs, &extent)?);
        let node = self.graph.compare(op, a, b)?;
        self.set(&ir.out, node)
    }

    /// Imports a comparison with a scalar.
    pub(super) fn compare_scalar(&mut self, op: CompareOp, ir: &ScalarOpIr) -> Result<()> {
        let node = self.node(&ir.lhs)?;
        let number = self.number_like(&ir.lhs, scalar(ir.rhs));
        let node = self.graph.compare(op, node, number)?;
        self.set(&ir.out, node)
    }

    /// Adds a logical operation on two masks.
    pub(super) fn logic(&mut self, op: LogicOp, ir: &BinaryOpIr) -> Result<NodeId> {
        let extent = self.extent(&ir.out);
        let (a, b) = (self.operand(&ir.lhs, &extent)?, self.operand(&ir.rhs, &extent)?);
        Ok(self.graph.logic(op, a, b)?)
    }

    /// Imports a selection between `value` and `tensor` by a mask.
    pub(super) fn mask_where(&mut self, ir: &MaskWhereOpIr) -> Result<()> {
        let extent = self.extent(&ir.out);
        let mask = self.operand(&ir.mask, &extent)?;
        let (value, tensor) = (self.operand(&ir.value, &extent)?, self.operand(&ir.tensor, &extent)?);
        let node = self.graph.select_where(mask, value, tensor)?;
        self.set(&ir.out, node)
    }

    /// Imports a selection between a scalar and `tensor` by a mask.
    pub(super) fn mask_fill(&mut self, ir: &MaskFillOpIr) -> Result<()> {
        let extent = self.extent(&ir.out);
        let mask = self.operand(&ir.mask, &extent)?;
        let tensor = self.operand(&ir.tensor, &extent)?;
        let number = self.number_like(&ir.tensor, scalar(ir.value));
        let node = self.graph.select_where(mask, number, tensor)?;
        self.set(&ir.out, node)
    }

    /// Adds x clamped to the range from `least` to `most`. NaN stays NaN.
    pub(super) fn clamped(
        &mut self,
        like: &TensorIr,
        x: NodeId,
        least: Option<f64>,
        most: Option<f64>,
    ) -> Result<NodeId> {
        let mut node = x;
        for (bound, beyond) in [(most, CompareOp::Greater), (least, CompareOp::Less)] {
            if let Some(bound) = bound {
                let number = self.number_like(like, bound);
                let outside = self.graph.compare(beyond, node, number)?;
                node = self.graph.select_where(outside, number, node)?;
            }
        }
        Ok(node)
    }
}
