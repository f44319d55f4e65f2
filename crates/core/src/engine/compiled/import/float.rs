//! Operations on floats.

use burn_ir::{CastOpIr, FloatOperationIr, ScalarOpIr};
use sgmcmc_compiler::graph::{BinaryOp, Kind, Number, UnaryOp};

use super::constant::scalar;
use super::{Importer, Result};
use crate::engine::compiled::compile_error::CompileError;

impl Importer<'_> {
    /// Imports an operation on floats.
    pub(super) fn float(&mut self, op: &FloatOperationIr) -> Result<()> {
        use FloatOperationIr as Ir;
        let (function, ir) = match op {
            Ir::Exp(ir) => (UnaryOp::Exp, ir),
            Ir::Log(ir) => (UnaryOp::Log, ir),
            Ir::Log1p(ir) => (UnaryOp::Log1p, ir),
            Ir::Erf(ir) => (UnaryOp::Erf, ir),
            Ir::Sqrt(ir) => (UnaryOp::Sqrt, ir),
            Ir::Recip(ir) => (UnaryOp::Recip, ir),
            Ir::Sin(ir) => (UnaryOp::Sin, ir),
            Ir::Cos(ir) => (UnaryOp::Cos, ir),
            Ir::Tan(ir) => (UnaryOp::Tan, ir),
            Ir::Sinh(ir) => (UnaryOp::Sinh, ir),
            Ir::Cosh(ir) => (UnaryOp::Cosh, ir),
            Ir::Tanh(ir) => (UnaryOp::Tanh, ir),
            Ir::ArcSin(ir) => (UnaryOp::Asin, ir),
            Ir::ArcCos(ir) => (UnaryOp::Acos, ir),
            Ir::ArcTan(ir) => (UnaryOp::Atan, ir),
            Ir::ArcSinh(ir) => (UnaryOp::Asinh, ir),
            Ir::ArcCosh(ir) => (UnaryOp::Acosh, ir),
            Ir::ArcTanh(ir) => (UnaryOp::Atanh, ir),
            Ir::Round(ir) => (UnaryOp::Round, ir),
            Ir::Floor(ir) => (UnaryOp::Floor, ir),
            Ir::Ceil(ir) => (UnaryOp::Ceil, ir),
            Ir::Trunc(ir) => (UnaryOp::Trunc, ir),
            Ir::IsNan(ir) => (UnaryOp::IsNan, ir),
            Ir::IsInf(ir) => (UnaryOp::IsInfinite, ir),
            Ir::ArcTan2(ir) => return self.binary(BinaryOp::Atan2, ir),
            Ir::Powf(ir) => return self.binary(BinaryOp::Pow, ir),
            Ir::PowfScalar(ir) => return self.power(ir),
            Ir::IntoInt(ir) => return self.truncated(ir),
            Ir::Matmul(ir) => return self.matmul(ir),
            Ir::Random(_) => {
                return Err(CompileError::new(
                    "the model draws random numbers inside its closures; draw them beforehand and pass them as data",
                ));
            }
            Ir::Cross(_) | Ir::Quantize(_) | Ir::Dequantize(_) | Ir::GridSample2d(_) | Ir::Hypot(_) => {
                return Err(self.unsupported());
            }
        };
        self.unary(function, &ir.input, &ir.out)
    }

    /// Imports x^c for floats.
    pub(super) fn power(&mut self, ir: &ScalarOpIr) -> Result<()> {
        let exponent = scalar(ir.rhs);
        #[expect(clippy::float_cmp, reason = "these exponents have operations of their own")]
        let function = if exponent == 2.0 {
            UnaryOp::Square
        } else if exponent == 1.0 {
            let node = self.node(&ir.lhs)?;
            return self.set(&ir.out, node);
        } else if exponent == -1.0 {
            UnaryOp::Recip
        } else {
            UnaryOp::Power(Number(exponent))
        };
        self.unary(function, &ir.lhs, &ir.out)
    }

    /// Imports the conversion of floats to integers, which truncates.
    fn truncated(&mut self, ir: &CastOpIr) -> Result<()> {
        let node = self.node(&ir.input)?;
        let node = self.graph.unary(UnaryOp::Trunc, node);
        let node = self.graph.cast(node, Kind::Int);
        self.set(&ir.out, node)
    }
}
