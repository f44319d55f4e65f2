//! The instructions of a program.

use super::fuse::Fused;
use super::indexed::{GatherOperands, SelectOperands, SelectedRow};
use super::scan::ScanOperands;
use super::view::{BufferId, Location, LoopPlan};
use crate::graph::ReduceOp;
pub(crate) use crate::kernels::Function;

/// The source of an operand of an element-wise instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// A buffer.
    Buffer(BufferId),
    /// The same number for all elements.
    Number(f64),
}

/// A data leaf and its numbers per row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataLeaf {
    pub(crate) leaf: usize,
    pub(crate) width: usize,
}

/// A matrix in a buffer. Its elements are numbers, or lanes with one number per observation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MatrixView {
    pub(crate) buffer: BufferId,
    pub(crate) rows: bool,
    pub(crate) offset: usize,
    /// The strides between rows and between columns.
    pub(crate) strides: [usize; 2],
}

/// A function of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatrixFunction {
    /// The Cholesky factor.
    Cholesky,
    /// The adjoint of a matrix, from its factor and the adjoint of the factor.
    CholeskyAdjoint,
    /// L⁻¹ B.
    SolveLower,
    /// L⁻ᵀ B.
    SolveLowerTransposed,
}

/// A function of one or two matrices with `dim` rows, for each observation or of shared matrices. The result has `dim`
/// rows and `columns` columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MatrixCall {
    pub(crate) function: MatrixFunction,
    pub(crate) dim: usize,
    pub(crate) columns: usize,
    /// The first matrix, which is square, and the second one, which has the shape of the result. A function of one
    /// matrix has it twice.
    pub(crate) operands: [MatrixView; 2],
    /// The first features of both operands, for each index of the leading axes.
    pub(crate) starts: Vec<[usize; 2]>,
    /// The buffer for the matrices of one observation, which are computed in double precision.
    pub(crate) scratch: BufferId,
    pub(crate) rows: bool,
    pub(crate) out: BufferId,
}

/// An instruction. Buffers named `out` are written; the others are read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Instruction {
    /// Loads a parameter leaf in the precision of the program.
    LoadParameter { leaf: usize, out: BufferId },
    /// Loads a constant.
    LoadConstant { constant: usize, out: BufferId },
    /// Loads the rows of a data leaf and transposes them.
    LoadData { leaf: usize, width: usize, out: BufferId },
    /// Loads the weights of the rows.
    LoadWeights { out: BufferId },
    /// Applies an element-wise function in the precision of the operands.
    Map { function: Function, operands: Vec<Source>, over: LoopPlan, out: BufferId },
    /// Applies several element-wise functions to one block after another.
    Fused(Fused),
    /// Converts between floats and integers. Floats are truncated.
    Convert { from: BufferId, features: usize, rows: bool, out: BufferId },
    /// Writes zeros.
    Clear { features: usize, rows: bool, out: BufferId },
    /// Writes a region of a buffer. The operands of the loop are the region and the input, unless the input is a
    /// number.
    WriteRegion { from: Source, over: LoopPlan, out: BufferId },
    /// Reduces `count` runs with a stride of `step` features.
    Reduce { op: ReduceOp, from: BufferId, over: LoopPlan, count: usize, step: isize, out: BufferId },
    /// Computes cumulative sums over `count` runs. The operands of the loop are the input and the result, with strides
    /// of `steps` features.
    CumSum { from: BufferId, over: LoopPlan, count: usize, steps: [isize; 2], reverse: bool, out: BufferId },
    /// `out[f]` += Σ over the observations of the tile.
    SumRows { from: BufferId, starts: Vec<usize>, out: BufferId },
    /// `out[f]` += Σ over the observations of the tile of a product.
    DotRows { a: BufferId, b: BufferId, starts: Vec<[usize; 2]>, out: BufferId },
    /// Computes a matrix product for each observation, or of shared matrices. The result is row-major and starts at
    /// `out_offset`.
    Matmul { size: [usize; 3], a: MatrixView, b: MatrixView, out_offset: usize, rows: bool, out: BufferId },
    /// Computes a Cholesky factor or solves a triangular system.
    MatrixFunction(MatrixCall),
    /// `out` += a matrix product summed over the observations of the tile.
    Contract { size: [usize; 3], a: MatrixView, b: MatrixView, out_offset: usize, out: BufferId },
    /// Computes the dot product of each data row, read in place, with a shared vector.
    DotData { leaf: usize, width: usize, vector: BufferId, offset: usize, out: BufferId },
    /// `out` += Σ over the observations of the tile of a coefficient times the data row, read in place.
    AccumulateData { leaf: usize, width: usize, coefficients: BufferId, offset: usize, out: BufferId },
    /// Multiplies the data rows, read in place, by a shared matrix `[width, columns]` with these strides.
    MultiplyData {
        leaf: usize,
        width: usize,
        columns: usize,
        matrix: BufferId,
        offset: usize,
        strides: [usize; 2],
        /// The scratch buffer for packed columns of the matrix.
        panels: BufferId,
        out: BufferId,
    },
    /// `out` `[width, columns]` (with these strides) += Σ over the observations of the tile of data row × coefficients
    /// `[columns]`. The rows are read in place.
    ContractData {
        leaf: usize,
        width: usize,
        columns: usize,
        coefficients: BufferId,
        offset: usize,
        strides: [usize; 2],
        /// The scratch buffer for packed coefficients and columns of the rows.
        copies: BufferId,
        out: BufferId,
    },
    /// Selects rows of a shared table at the index of each observation.
    Select(SelectOperands),
    /// Adds the values to a table at the index of each observation.
    SelectAdjoint(SelectOperands),
    /// Adds like [`SelectAdjoint`](Self::SelectAdjoint), with separate sums for each observation.
    SelectAdjointRows(SelectOperands),
    /// Computes the dot product of two selected rows for each observation.
    DotSelected { rows: [SelectedRow; 2], width: usize, out: BufferId },
    /// Adds a factor times a coefficient times a selected row to row `to` of the gradient of a parameter, for each
    /// observation.
    AddSelected { from: SelectedRow, to: SelectedRow, width: usize, coefficients: Location, factor: f64 },
    /// Gathers elements of an axis at the index of each observation or at a shared index.
    Gather(GatherOperands),
    /// Applies the adjoint of [`Gather`](Self::Gather), summed over the observations if `out` is shared.
    GatherAdjoint(GatherOperands),
    /// Executes a recurrence.
    Scan(Box<ScanOperands>),
}

impl Instruction {
    /// Returns the buffers that the instruction reads.
    pub(crate) fn reads(&self) -> Vec<BufferId> {
        match self {
            Self::LoadParameter { .. }
            | Self::LoadConstant { .. }
            | Self::LoadData { .. }
            | Self::LoadWeights { .. }
            | Self::Clear { .. } => vec![],
            Self::Map { operands, .. } => operands.iter().filter_map(|source| source.buffer()).collect(),
            Self::Fused(Fused { shared, inputs, scratch, .. }) => {
                shared.iter().chain(inputs).map(|block| block.buffer).chain([*scratch]).collect()
            }
            Self::WriteRegion { from, out, .. } => from.buffer().into_iter().chain([*out]).collect(),
            Self::Convert { from, .. } | Self::Reduce { from, .. } | Self::CumSum { from, .. } => vec![*from],
            Self::SumRows { from, out, .. } => vec![*from, *out],
            Self::DotRows { a, b, out, .. } => vec![*a, *b, *out],
            Self::Matmul { a, b, out, .. } | Self::Contract { a, b, out, .. } => vec![a.buffer, b.buffer, *out],
            Self::MatrixFunction(MatrixCall { operands: [a, b], scratch, .. }) => vec![a.buffer, b.buffer, *scratch],
            Self::DotData { vector, .. } => vec![*vector],
            Self::AccumulateData { coefficients, out, .. } => vec![*coefficients, *out],
            Self::MultiplyData { matrix, panels, .. } => vec![*matrix, *panels],
            Self::ContractData { coefficients, copies, out, .. } => vec![*coefficients, *copies, *out],
            Self::Select(selection) => selection.table.buffer().into_iter().chain([selection.index]).collect(),
            Self::SelectAdjoint(selection) | Self::SelectAdjointRows(selection) => {
                selection.table.buffer().into_iter().chain([selection.index, selection.values]).collect()
            }
            Self::DotSelected { rows, .. } => rows.iter().map(|row| row.index).collect(),
            Self::AddSelected { from, to, coefficients, .. } => vec![from.index, to.index, coefficients.buffer],
            Self::Gather(gathering) => vec![gathering.table, gathering.index],
            Self::GatherAdjoint(gathering) => vec![gathering.table, gathering.index, gathering.values],
            Self::Scan(scan) => scan.loads().map(|load| load.buffer).chain([scan.scratch]).collect(),
        }
    }

    /// Returns the buffers that the instruction writes. Gradients of parameters are not buffers.
    pub(crate) fn writes(&self) -> Vec<BufferId> {
        match self {
            Self::LoadParameter { out, .. }
            | Self::LoadConstant { out, .. }
            | Self::LoadData { out, .. }
            | Self::LoadWeights { out }
            | Self::Map { out, .. }
            | Self::Convert { out, .. }
            | Self::Clear { out, .. }
            | Self::WriteRegion { out, .. }
            | Self::Reduce { out, .. }
            | Self::CumSum { out, .. }
            | Self::SumRows { out, .. }
            | Self::DotRows { out, .. }
            | Self::Matmul { out, .. }
            | Self::MatrixFunction(MatrixCall { out, .. })
            | Self::Contract { out, .. }
            | Self::DotData { out, .. }
            | Self::AccumulateData { out, .. }
            | Self::MultiplyData { out, .. }
            | Self::ContractData { out, .. }
            | Self::DotSelected { out, .. } => vec![*out],
            Self::AddSelected { .. } => vec![],
            Self::Fused(fused) => fused.outputs.iter().map(|block| block.buffer).collect(),
            Self::Select(selection) => vec![selection.values],
            Self::SelectAdjoint(selection) | Self::SelectAdjointRows(selection) => {
                selection.table.buffer().into_iter().collect()
            }
            Self::Gather(gathering) => vec![gathering.values],
            Self::GatherAdjoint(gathering) => vec![gathering.table],
            Self::Scan(scan) => vec![scan.out],
        }
    }

    /// Returns all buffers of the instruction, for renumbering.
    pub(crate) fn buffers_mut(&mut self) -> Vec<&mut BufferId> {
        match self {
            Self::LoadParameter { out, .. }
            | Self::LoadConstant { out, .. }
            | Self::LoadData { out, .. }
            | Self::LoadWeights { out }
            | Self::Clear { out, .. } => vec![out],
            Self::Map { operands, out, .. } => {
                operands.iter_mut().filter_map(Source::buffer_mut).chain([out]).collect()
            }
            Self::Fused(Fused { shared, inputs, outputs, scratch, .. }) => {
                let blocks = shared.iter_mut().chain(inputs).chain(outputs);
                blocks.map(|block| &mut block.buffer).chain([scratch]).collect()
            }
            Self::WriteRegion { from, out, .. } => from.buffer_mut().into_iter().chain([out]).collect(),
            Self::Convert { from, out, .. }
            | Self::Reduce { from, out, .. }
            | Self::CumSum { from, out, .. }
            | Self::SumRows { from, out, .. } => vec![from, out],
            Self::DotRows { a, b, out, .. } => vec![a, b, out],
            Self::Matmul { a, b, out, .. } | Self::Contract { a, b, out, .. } => {
                vec![&mut a.buffer, &mut b.buffer, out]
            }
            Self::MatrixFunction(MatrixCall { operands: [a, b], scratch, out, .. }) => {
                vec![&mut a.buffer, &mut b.buffer, scratch, out]
            }
            Self::DotData { vector, out, .. } => vec![vector, out],
            Self::AccumulateData { coefficients, out, .. } => vec![coefficients, out],
            Self::MultiplyData { matrix, panels, out, .. } => vec![matrix, panels, out],
            Self::ContractData { coefficients, copies, out, .. } => vec![coefficients, copies, out],
            Self::Select(selection) | Self::SelectAdjoint(selection) | Self::SelectAdjointRows(selection) => {
                let SelectOperands { table, index, values, .. } = selection;
                table.buffer_mut().into_iter().chain([index, values]).collect()
            }
            Self::DotSelected { rows, out, .. } => rows.iter_mut().map(|row| &mut row.index).chain([out]).collect(),
            Self::AddSelected { from, to, coefficients, .. } => {
                vec![&mut from.index, &mut to.index, &mut coefficients.buffer]
            }
            Self::Gather(gathering) | Self::GatherAdjoint(gathering) => {
                let GatherOperands { table, index, values, .. } = gathering;
                vec![table, index, values]
            }
            Self::Scan(scan) => scan.buffers_mut(),
        }
    }

    /// Returns the name of the instruction in the description of a program.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Map { function, .. } => function.name(),
            Self::Fused(fused) => {
                format!("({})", fused.steps.iter().map(|step| step.function.name()).collect::<Vec<_>>().join(", "))
            }
            Self::MatrixFunction(call) => format!("{:?}", call.function),
            Self::Scan(_) => "scan".into(),
            Self::Reduce { op, .. } => format!("reduce {op:?}").to_lowercase(),
            other => {
                let name = format!("{other:?}");
                name.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
            }
        }
    }
}

impl Source {
    fn buffer(&self) -> Option<BufferId> {
        match self {
            Self::Buffer(buffer) => Some(*buffer),
            Self::Number(_) => None,
        }
    }

    fn buffer_mut(&mut self) -> Option<&mut BufferId> {
        match self {
            Self::Buffer(buffer) => Some(buffer),
            Self::Number(_) => None,
        }
    }
}
