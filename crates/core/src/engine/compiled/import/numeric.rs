//! Arithmetic, comparisons, clamping and reductions of floats and integers.

use burn_ir::{NumericOperationIr, PadModeIr, PadOpIr, ScalarOpIr};
use sgmcmc_compiler::graph::{BinaryOp, CompareOp, Kind, ReduceOp, UnaryOp};

use super::constant::scalar;
use super::{Importer, Result, kind_of};
use crate::engine::compiled::compile_error::CompileError;

impl Importer<'_> {
    /// Imports an operation on numbers.
    pub(super) fn numeric(&mut self, op: &NumericOperationIr) -> Result<()> {
        use NumericOperationIr as Ir;
        match op {
            Ir::Add(ir) => self.binary(BinaryOp::Add, ir),
            Ir::Sub(ir) => self.binary(BinaryOp::Sub, ir),
            Ir::Mul(ir) => self.binary(BinaryOp::Mul, ir),
            Ir::Div(ir) => self.binary(BinaryOp::Div, ir),
            Ir::Rem(ir) => self.binary(BinaryOp::Rem, ir),
            Ir::AddScalar(ir) => self.affine(&ir.lhs, 1.0, scalar(ir.rhs), &ir.out),
            Ir::SubScalar(ir) => self.affine(&ir.lhs, 1.0, -scalar(ir.rhs), &ir.out),
            Ir::MulScalar(ir) => self.affine(&ir.lhs, scalar(ir.rhs), 0.0, &ir.out),
            Ir::DivScalar(ir) => self.divided(ir),
            Ir::RemScalar(ir) => self.binary_scalar(BinaryOp::Rem, ir),
            Ir::Neg(ir) => self.unary(UnaryOp::Neg, &ir.input, &ir.out),
            Ir::Abs(ir) => self.unary(UnaryOp::Abs, &ir.input, &ir.out),
            Ir::Sign(ir) => self.unary(UnaryOp::Sign, &ir.input, &ir.out),
            Ir::Powi(ir) => self.integer_power(ir),
            Ir::PowiScalar(ir) if kind_of(ir.lhs.dtype) == Kind::Float => self.power(ir),
            Ir::PowiScalar(ir) => self.binary_scalar(BinaryOp::Pow, ir),

            Ir::Greater(ir) => self.compare(CompareOp::Greater, ir),
            Ir::GreaterEqual(ir) => self.compare(CompareOp::GreaterEqual, ir),
            Ir::Lower(ir) => self.compare(CompareOp::Less, ir),
            Ir::LowerEqual(ir) => self.compare(CompareOp::LessEqual, ir),
            Ir::GreaterElem(ir) => self.compare_scalar(CompareOp::Greater, ir),
            Ir::GreaterEqualElem(ir) => self.compare_scalar(CompareOp::GreaterEqual, ir),
            Ir::LowerElem(ir) => self.compare_scalar(CompareOp::Less, ir),
            Ir::LowerEqualElem(ir) => self.compare_scalar(CompareOp::LessEqual, ir),

            Ir::Clamp(ir) => {
                let x = self.node(&ir.tensor)?;
                let node = self.clamped(&ir.tensor, x, Some(scalar(ir.min)), Some(scalar(ir.max)))?;
                self.set(&ir.out, node)
            }
            Ir::ClampMin(ir) => {
                let x = self.node(&ir.lhs)?;
                let node = self.clamped(&ir.lhs, x, Some(scalar(ir.rhs)), None)?;
                self.set(&ir.out, node)
            }
            Ir::ClampMax(ir) => {
                let x = self.node(&ir.lhs)?;
                let node = self.clamped(&ir.lhs, x, None, Some(scalar(ir.rhs)))?;
                self.set(&ir.out, node)
            }

            Ir::Sum(ir) => self.total(ReduceOp::Sum, ir),
            Ir::Prod(ir) => self.total(ReduceOp::Prod, ir),
            Ir::Max(ir) => self.total(ReduceOp::Max, ir),
            Ir::Min(ir) => self.total(ReduceOp::Min, ir),
            Ir::Mean(ir) => self.mean(&ir.input, None, &ir.out),
            Ir::MaxAbs(ir) => self.largest_size(&ir.input, None, &ir.out),
            Ir::SumDim(ir) => self.reduce(ReduceOp::Sum, &ir.input, [ir.axis], &ir.out),
            Ir::SumDims(ir) => self.reduce(ReduceOp::Sum, &ir.input, ir.axes.iter().copied(), &ir.out),
            Ir::ProdDim(ir) => self.reduce(ReduceOp::Prod, &ir.input, [ir.axis], &ir.out),
            Ir::MaxDim(ir) => self.reduce(ReduceOp::Max, &ir.input, [ir.axis], &ir.out),
            Ir::MinDim(ir) => self.reduce(ReduceOp::Min, &ir.input, [ir.axis], &ir.out),
            Ir::MaxDimWithIndices(ir) => self.reduce(ReduceOp::Max, &ir.tensor, [ir.dim], &ir.out),
            Ir::MinDimWithIndices(ir) => self.reduce(ReduceOp::Min, &ir.tensor, [ir.dim], &ir.out),
            Ir::MeanDim(ir) => self.mean(&ir.input, Some(ir.axis), &ir.out),
            Ir::MaxAbsDim(ir) => self.largest_size(&ir.input, Some(ir.axis), &ir.out),

            Ir::CumSum(ir) => {
                let (x, axis) = self.along(ir)?;
                let node = self.graph.cumsum(x, axis, false)?;
                self.set(&ir.out, node)
            }
            Ir::Full(ir) => self.filled(&ir.out, scalar(ir.value)),
            Ir::Pad(ir) => self.pad(ir),
            Ir::IntRandom(_) => Err(CompileError::new(
                "the model draws random numbers inside its closures; draw them beforehand and pass them as data",
            )),
            Ir::CumProd(_)
            | Ir::CumMin(_)
            | Ir::CumMax(_)
            | Ir::ArgMax(_)
            | Ir::ArgMin(_)
            | Ir::ArgTopK(_)
            | Ir::TopK(_)
            | Ir::TopKWithIndices(_)
            | Ir::Sort(_)
            | Ir::SortWithIndices(_)
            | Ir::ArgSort(_) => Err(self.unsupported()),
        }
    }

    /// Imports x / c. It becomes a product with 1/c, which is faster, unless 1/c is extremely small or large.
    fn divided(&mut self, ir: &ScalarOpIr) -> Result<()> {
        let inverse = scalar(ir.rhs).recip();
        let ordinary = (1e-30..1e30).contains(&inverse.abs());
        if kind_of(ir.lhs.dtype) == Kind::Float && ordinary {
            self.affine(&ir.lhs, inverse, 0.0, &ir.out)
        } else {
            self.binary_scalar(BinaryOp::Div, ir)
        }
    }

    /// Imports aᵇ for integers b and numbers a.
    fn integer_power(&mut self, ir: &burn_ir::BinaryOpIr) -> Result<()> {
        let extent = self.extent(&ir.out);
        let (a, b) = (self.operand(&ir.lhs, &extent)?, self.operand(&ir.rhs, &extent)?);
        let b = self.graph.cast(b, kind_of(ir.lhs.dtype));
        let node = self.graph.binary(BinaryOp::Pow, a, b)?;
        self.set(&ir.out, node)
    }

    /// Imports padding with a constant.
    fn pad(&mut self, ir: &PadOpIr) -> Result<()> {
        let PadModeIr::Constant(border) = ir.mode else { return Err(self.unsupported()) };
        let extent = self.extent(&ir.input);
        let kind = kind_of(ir.input.dtype);
        let mut node = self.node(&ir.input)?;
        for (axis, (before, after)) in ir.padding.iter().copied().enumerate() {
            if (before, after) == (0, 0) {
                continue;
            }
            self.not_rows(&extent, axis)?;
            let own = extent.axis(axis);
            let mut padding = |length: usize| {
                let mut dims = self.graph.shape(node).dims.clone();
                dims[own] = length;
                (length > 0).then(|| self.graph.full(scalar(border), dims, kind))
            };
            let parts = [padding(before), Some(node), padding(after)];
            node = self.graph.cat(&parts.into_iter().flatten().collect::<Vec<_>>(), own)?;
        }
        self.set(&ir.out, node)
    }
}
