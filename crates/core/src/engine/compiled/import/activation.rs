//! Activation functions.

use std::f64::consts::FRAC_1_SQRT_2;

use burn_ir::{ActivationOperationIr, DimOpIr, TensorIr};
use sgmcmc_compiler::graph::{BinaryOp, CompareOp, NodeId, UnaryOp};

use super::constant::scalar;
use super::{Importer, Result};

impl Importer<'_> {
    /// Imports an activation function.
    pub(super) fn activation(&mut self, op: &ActivationOperationIr) -> Result<()> {
        use ActivationOperationIr as Ir;
        match op {
            Ir::Relu(ir) => self.unary(UnaryOp::Relu, &ir.input, &ir.out),
            Ir::Sigmoid(ir) => self.unary(UnaryOp::Sigmoid, &ir.input, &ir.out),
            Ir::LogSigmoid(ir) => self.unary(UnaryOp::LogSigmoid, &ir.input, &ir.out),
            Ir::LeakyRelu(ir) => {
                let x = self.node(&ir.lhs)?;
                let scaled = self.graph.affine(x, scalar(ir.rhs), 0.0);
                self.leaky(x, scaled, &ir.out)
            }
            Ir::PRelu(ir) => {
                let extent = self.extent(&ir.out);
                let (x, slope) = (self.operand(&ir.lhs, &extent)?, self.operand(&ir.rhs, &extent)?);
                let scaled = self.graph.binary(BinaryOp::Mul, x, slope)?;
                self.leaky(x, scaled, &ir.out)
            }
            // x (1 + erf(x/√2)) / 2
            Ir::Gelu(ir) => {
                let x = self.node(&ir.input)?;
                let z = self.graph.affine(x, FRAC_1_SQRT_2, 0.0);
                let erf = self.graph.unary(UnaryOp::Erf, z);
                let share = self.graph.affine(erf, 0.5, 0.5);
                let node = self.graph.binary(BinaryOp::Mul, x, share)?;
                self.set(&ir.out, node)
            }
            Ir::HardSigmoid(ir) => {
                let x = self.node(&ir.tensor)?;
                let line = self.graph.affine(x, scalar(ir.alpha), scalar(ir.beta));
                let node = self.clamped(&ir.tensor, line, Some(0.0), Some(1.0))?;
                self.set(&ir.out, node)
            }
            Ir::Softmax(ir) => {
                let (x, axis) = self.along(ir)?;
                let node = self.graph.softmax(x, axis)?;
                self.set(&ir.out, node)
            }
            Ir::LogSoftmax(ir) => {
                let (x, axis) = self.along(ir)?;
                let node = self.graph.log_softmax(x, axis)?;
                self.set(&ir.out, node)
            }
            Ir::Softmin(ir) => {
                let (x, axis) = self.along(ir)?;
                let x = self.graph.unary(UnaryOp::Neg, x);
                let node = self.graph.softmax(x, axis)?;
                self.set(&ir.out, node)
            }
            Ir::ReluBackward(_) | Ir::GeluBackward(_) | Ir::SigmoidBackward(_) | Ir::LogSigmoidBackward(_) => {
                Err(self.unsupported())
            }
        }
    }

    /// Returns the input node of an operation along an axis, and the axis of the node.
    pub(super) fn along(&mut self, ir: &DimOpIr) -> Result<(NodeId, usize)> {
        let extent = self.extent(&ir.input);
        self.not_rows(&extent, ir.axis)?;
        Ok((self.node(&ir.input)?, extent.axis(ir.axis)))
    }

    /// Imports a function that is `scaled` where x is negative, and x elsewhere.
    fn leaky(&mut self, x: NodeId, scaled: NodeId, out: &TensorIr) -> Result<()> {
        let zero = self.graph.scalar(0.0);
        let negative = self.graph.compare(CompareOp::Less, x, zero)?;
        let node = self.graph.select_where(negative, scaled, x)?;
        self.set(out, node)
    }
}
