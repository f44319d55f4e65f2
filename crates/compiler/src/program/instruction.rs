//! What a program does, one step after another.

use super::fuse::Fused;
use super::indexed::{Gathering, SelectedRow, Selection};
use super::view::{Loop, Store};
use crate::graph::ReduceOp;
pub(crate) use crate::kernels::Function;

/// Where an element-wise instruction reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// From a buffer.
    Store(Store),
    /// The same number everywhere.
    Number(f64),
}

/// A matrix whose elements are numbers or, one per observation, lanes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MatrixView {
    pub(crate) store: Store,
    pub(crate) rows: bool,
    pub(crate) offset: usize,
    /// From one row, and from one column, to the next.
    pub(crate) strides: [usize; 2],
}

/// One step of a program. Buffers named `out` are written, others read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Instruction {
    /// A parameter leaf, in the program's precision.
    LoadParameter { leaf: usize, out: Store },
    /// Constants.
    LoadConstant { constant: usize, out: Store },
    /// A data leaf's rows, transposed.
    LoadData { leaf: usize, width: usize, out: Store },
    /// The weights of the rows.
    LoadWeights { out: Store },
    /// An element-wise function, in the arithmetic of the operands' buffers.
    Map { function: Function, operands: Vec<Source>, over: Loop, out: Store },
    /// Several element-wise functions, one after another on a block of numbers.
    Fused(Fused),
    /// Between floats and integers; towards integers the fraction is cut off.
    Convert { from: Store, features: usize, rows: bool, out: Store },
    /// Zeros.
    Clear { features: usize, rows: bool, out: Store },
    /// Part of a buffer, without touching the rest. The loop's operands are that part and the input, if it is not a number.
    Place { from: Source, over: Loop, out: Store },
    /// A reduction of `count` runs, `step` features apart.
    Reduce { op: ReduceOp, from: Store, over: Loop, count: usize, step: isize, out: Store },
    /// Running sums over `count` runs. The loop's operands are the input and the result, whose runs are `steps` features apart.
    CumSum { from: Store, over: Loop, count: usize, steps: [isize; 2], reverse: bool, out: Store },
    /// out[f] += Σ over the tile's observations.
    SumRows { from: Store, starts: Vec<usize>, out: Store },
    /// out[f] += Σ over the tile's observations of a product.
    DotRows { a: Store, b: Store, starts: Vec<[usize; 2]>, out: Store },
    /// A matrix product for each observation, or of shared matrices; `out` is row-major from `out_offset` on.
    Matmul { size: [usize; 3], a: MatrixView, b: MatrixView, out_offset: usize, rows: bool, out: Store },
    /// out += a matrix product summed over the tile's observations.
    Contract { size: [usize; 3], a: MatrixView, b: MatrixView, out_offset: usize, out: Store },
    /// One product of each data row, read in place, with a shared vector.
    DotData { leaf: usize, width: usize, vector: Store, offset: usize, out: Store },
    /// out += Σ over the tile's observations of a coefficient times the data row, read in place.
    AccumulateData { leaf: usize, width: usize, coefficients: Store, offset: usize, out: Store },
    /// Products of the data rows, read in place, with a shared matrix `[width, columns]` of these strides.
    MultiplyData {
        leaf: usize,
        width: usize,
        columns: usize,
        matrix: Store,
        offset: usize,
        strides: [usize; 2],
        /// Room for copies of its columns.
        panels: Store,
        out: Store,
    },
    /// out `[width, columns]` (of these strides) += Σ over the tile's observations of data row × coefficients `[columns]`,
    /// the rows read in place.
    ContractData {
        leaf: usize,
        width: usize,
        columns: usize,
        coefficients: Store,
        offset: usize,
        strides: [usize; 2],
        /// Room for copies of the coefficients and of columns of the rows.
        copies: Store,
        out: Store,
    },
    /// Rows of a shared table at the index of each observation.
    Select(Selection),
    /// out += values at the index of each observation.
    SelectAdjoint(Selection),
    /// As [`SelectAdjoint`](Self::SelectAdjoint), but every observation has its own sums.
    SelectAdjointRows(Selection),
    /// The product of two rows that each observation has.
    DotSelected { rows: [SelectedRow; 2], width: usize, out: Store },
    /// Adds a factor times a number and a row that each observation has to row `to` of a parameter's gradient.
    AddSelected { from: SelectedRow, to: SelectedRow, width: usize, coefficients: (Store, usize), factor: f64 },
    /// Elements of an axis at the index of each observation (or of all).
    Gather(Gathering),
    /// The adjoint of [`Gather`](Self::Gather), summed over the observations if `out` is shared.
    GatherAdjoint(Gathering),
}

impl Instruction {
    /// The buffers it reads.
    pub(crate) fn reads(&self) -> Vec<Store> {
        match self {
            Self::LoadParameter { .. }
            | Self::LoadConstant { .. }
            | Self::LoadData { .. }
            | Self::LoadWeights { .. }
            | Self::Clear { .. } => vec![],
            Self::Map { operands, .. } => operands.iter().filter_map(|source| source.store()).collect(),
            Self::Fused(Fused { shared, inputs, scratch, .. }) => {
                shared.iter().chain(inputs).map(|place| place.store).chain([*scratch]).collect()
            }
            Self::Place { from, out, .. } => from.store().into_iter().chain([*out]).collect(),
            Self::Convert { from, .. } | Self::Reduce { from, .. } | Self::CumSum { from, .. } => vec![*from],
            Self::SumRows { from, out, .. } => vec![*from, *out],
            Self::DotRows { a, b, out, .. } => vec![*a, *b, *out],
            Self::Matmul { a, b, out, .. } | Self::Contract { a, b, out, .. } => vec![a.store, b.store, *out],
            Self::DotData { vector, .. } => vec![*vector],
            Self::AccumulateData { coefficients, out, .. } => vec![*coefficients, *out],
            Self::MultiplyData { matrix, panels, .. } => vec![*matrix, *panels],
            Self::ContractData { coefficients, copies, out, .. } => vec![*coefficients, *copies, *out],
            Self::Select(selection) => selection.table.store().into_iter().chain([selection.index]).collect(),
            Self::SelectAdjoint(selection) | Self::SelectAdjointRows(selection) => {
                selection.table.store().into_iter().chain([selection.index, selection.values]).collect()
            }
            Self::DotSelected { rows, .. } => rows.iter().map(|row| row.index).collect(),
            Self::AddSelected { from, to, coefficients, .. } => vec![from.index, to.index, coefficients.0],
            Self::Gather(gathering) => vec![gathering.table, gathering.index],
            Self::GatherAdjoint(gathering) => vec![gathering.table, gathering.index, gathering.values],
        }
    }

    /// The buffers it writes; a parameter's gradient is none.
    pub(crate) fn writes(&self) -> Vec<Store> {
        match self {
            Self::LoadParameter { out, .. }
            | Self::LoadConstant { out, .. }
            | Self::LoadData { out, .. }
            | Self::LoadWeights { out }
            | Self::Map { out, .. }
            | Self::Convert { out, .. }
            | Self::Clear { out, .. }
            | Self::Place { out, .. }
            | Self::Reduce { out, .. }
            | Self::CumSum { out, .. }
            | Self::SumRows { out, .. }
            | Self::DotRows { out, .. }
            | Self::Matmul { out, .. }
            | Self::Contract { out, .. }
            | Self::DotData { out, .. }
            | Self::AccumulateData { out, .. }
            | Self::MultiplyData { out, .. }
            | Self::ContractData { out, .. }
            | Self::DotSelected { out, .. } => vec![*out],
            Self::AddSelected { .. } => vec![],
            Self::Fused(fused) => fused.outputs.iter().map(|place| place.store).collect(),
            Self::Select(selection) => vec![selection.values],
            Self::SelectAdjoint(selection) | Self::SelectAdjointRows(selection) => {
                selection.table.store().into_iter().collect()
            }
            Self::Gather(gathering) => vec![gathering.values],
            Self::GatherAdjoint(gathering) => vec![gathering.table],
        }
    }

    /// All buffers it names, to give them other numbers.
    pub(crate) fn stores_mut(&mut self) -> Vec<&mut Store> {
        match self {
            Self::LoadParameter { out, .. }
            | Self::LoadConstant { out, .. }
            | Self::LoadData { out, .. }
            | Self::LoadWeights { out }
            | Self::Clear { out, .. } => vec![out],
            Self::Map { operands, out, .. } => operands.iter_mut().filter_map(Source::store_mut).chain([out]).collect(),
            Self::Fused(Fused { shared, inputs, outputs, scratch, .. }) => {
                let places = shared.iter_mut().chain(inputs).chain(outputs);
                places.map(|place| &mut place.store).chain([scratch]).collect()
            }
            Self::Place { from, out, .. } => from.store_mut().into_iter().chain([out]).collect(),
            Self::Convert { from, out, .. }
            | Self::Reduce { from, out, .. }
            | Self::CumSum { from, out, .. }
            | Self::SumRows { from, out, .. } => vec![from, out],
            Self::DotRows { a, b, out, .. } => vec![a, b, out],
            Self::Matmul { a, b, out, .. } | Self::Contract { a, b, out, .. } => {
                vec![&mut a.store, &mut b.store, out]
            }
            Self::DotData { vector, out, .. } => vec![vector, out],
            Self::AccumulateData { coefficients, out, .. } => vec![coefficients, out],
            Self::MultiplyData { matrix, panels, out, .. } => vec![matrix, panels, out],
            Self::ContractData { coefficients, copies, out, .. } => vec![coefficients, copies, out],
            Self::Select(selection) | Self::SelectAdjoint(selection) | Self::SelectAdjointRows(selection) => {
                let Selection { table, index, values, .. } = selection;
                table.store_mut().into_iter().chain([index, values]).collect()
            }
            Self::DotSelected { rows, out, .. } => rows.iter_mut().map(|row| &mut row.index).chain([out]).collect(),
            Self::AddSelected { from, to, coefficients, .. } => {
                vec![&mut from.index, &mut to.index, &mut coefficients.0]
            }
            Self::Gather(gathering) | Self::GatherAdjoint(gathering) => {
                let Gathering { table, index, values, .. } = gathering;
                vec![table, index, values]
            }
        }
    }

    /// What it is called when a program is explained.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Map { function, .. } => function.name(),
            Self::Fused(fused) => {
                format!("({})", fused.steps.iter().map(|step| step.function.name()).collect::<Vec<_>>().join(", "))
            }
            Self::Reduce { op, .. } => format!("reduce {op:?}").to_lowercase(),
            other => {
                let name = format!("{other:?}");
                name.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
            }
        }
    }
}

impl Source {
    fn store(&self) -> Option<Store> {
        match self {
            Self::Store(store) => Some(*store),
            Self::Number(_) => None,
        }
    }

    fn store_mut(&mut self) -> Option<&mut Store> {
        match self {
            Self::Store(store) => Some(store),
            Self::Number(_) => None,
        }
    }
}
