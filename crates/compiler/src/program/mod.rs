//! Programs: the instructions of a graph with planned buffers.
//!
//! A run first computes values that depend on the parameters alone, then processes the rows in tiles that fit the
//! cache, then computes values that depend on sums over the rows. Buffers are allocated at compilation; a run does not
//! allocate.

mod buffers;
mod execute;
mod fuse;
mod indexed;
mod instruction;
mod lower;
mod scalars;
mod scan;
mod stage;
#[cfg(test)]
mod tests;
mod view;

use std::ops::Range;
use std::sync::Arc;

pub use execute::{Call, Column, Columns, Output, Real, RowSelection, RunError};
use indexed::Table;
use instruction::{DataLeaf, Instruction, MatrixCall};
use lower::{Buffer, Gradient, Lowering, RowValue, Summand, Term, Total};
use view::BufferId;

use crate::error::Result;
use crate::graph::{Graph, NodeId};

/// The outputs of a program, as nodes of a graph.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// The value of each row, a node without dimensions.
    pub row: Option<NodeId>,
    /// The value of each row if only the sum with unit weights is required.
    pub total: Option<NodeId>,
    /// The gradient of each parameter leaf, if it exists; per-row nodes for the gradient of each row.
    pub gradient: Vec<Option<NodeId>>,
    /// A value that depends on the parameters alone, a node without dimensions.
    pub shared: Option<NodeId>,
    /// The gradient of the shared value.
    pub shared_gradient: Vec<Option<NodeId>>,
}

impl Outputs {
    /// Returns all required nodes in the order of the fields.
    pub fn roots(&self) -> impl Iterator<Item = NodeId> {
        let rows = self.row.iter().chain(&self.total).chain(self.gradient.iter().flatten());
        rows.chain(&self.shared).chain(self.shared_gradient.iter().flatten()).copied()
    }

    /// Returns the same outputs with nodes of another graph, given in the order of [`roots`](Self::roots).
    #[must_use]
    pub fn renamed(&self, names: impl IntoIterator<Item = NodeId>) -> Self {
        let mut names = names.into_iter();
        let mut next = |old: &Option<NodeId>| old.and_then(|_| names.next());
        Self {
            row: next(&self.row),
            total: next(&self.total),
            gradient: self.gradient.iter().map(&mut next).collect(),
            shared: next(&self.shared),
            shared_gradient: self.shared_gradient.iter().map(&mut next).collect(),
        }
    }
}

/// The minimum and maximum number of rows of a tile.
const TILE_ROWS: Range<usize> = 32..512;
/// The target size in bytes of the buffers of a tile, which should fit the L1 cache.
const TILE_BYTES: usize = 24 << 10;
/// The target size in bytes of data rows that are read in place. They are read twice and should fit the L2 cache.
const IN_PLACE_BYTES: usize = 192 << 10;
/// The target size in bytes of the buffers of a tile for programs with large matrix products.
const LARGE_TILE_BYTES: usize = 4 << 20;
const LARGE_PRODUCT: usize = 1 << 12;

/// A compiled graph with its buffers.
#[derive(Debug)]
pub struct Program<T> {
    before: Vec<Instruction>,
    tile: Vec<Instruction>,
    after: Vec<Instruction>,
    accumulators: Vec<BufferId>,
    constants: Vec<Arc<[f64]>>,
    row: Option<RowValue>,
    total: Option<Total>,
    gradients: Vec<Gradient>,
    /// True if instructions of the tile add to the gradient of each row in place.
    adds_in_place: bool,
    shared: Option<Total>,
    shared_gradients: Vec<Gradient>,
    /// The ranges of the parameter leaves in the coordinates.
    leaves: Vec<Range<usize>>,
    tile_rows: usize,
    work: usize,
    /// The data leaves that the tile reads, and the numbers per row of each.
    read: Vec<DataLeaf>,
    native: Vec<Vec<T>>,
    wide: Vec<Vec<f64>>,
    plan: Plan,
}

/// A description of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The names of the instructions before the rows, for each tile, and after the rows.
    pub instructions: [Vec<String>; 3],
    /// The number of buffers.
    pub buffers: usize,
    /// The size of all buffers in bytes.
    pub bytes: usize,
    /// The number of rows of a tile.
    pub tile_rows: usize,
    /// The number of fused intermediate values, which have no buffer.
    pub fused: usize,
}

impl<T: Real> Program<T> {
    /// Compiles `graph` to a program that computes `outputs`. `leaves` contains the range of each parameter leaf in the
    /// coordinates.
    ///
    /// # Errors
    ///
    /// Returns an error if a row depends on other rows or an operation is not supported.
    pub fn compile(graph: &Graph, outputs: &Outputs, leaves: &[Range<usize>]) -> Result<Self> {
        Self::compile_for(graph, outputs, leaves, usize::MAX)
    }

    /// Compiles like [`compile`](Self::compile), for calls with at most `rows` rows. Larger calls need more tiles.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`compile`](Self::compile).
    pub fn compile_for(graph: &Graph, outputs: &Outputs, leaves: &[Range<usize>], rows: usize) -> Result<Self> {
        let needed = stage::needed(graph, outputs.roots());
        let stages = stage::stages(graph, &needed)?;
        let mut lowering = Lowering::new(graph, &stages);
        let mut row = outputs.row.map(|id| lowering.row_value(id)).transpose()?;
        let mut gradients = lowering.gradients(&outputs.gradient)?;
        let shared_gradients = lowering.gradients(&outputs.shared_gradient)?;
        // The gradients come first, because they may need values that are only summed here.
        let mut total = outputs.total.map(|id| lowering.total(id)).transpose()?;
        let shared = outputs.shared.map(|id| lowering.total(id)).transpose()?;
        let Lowering { mut native, mut wide, before, mut tile, after, accumulators, .. } = lowering;
        let mut kept: Vec<&mut BufferId> =
            gradients.iter_mut().flat_map(|gradient| &mut gradient.terms).filter_map(stored).collect();
        if let Some(RowValue::Rows(buffer, _)) = &mut row {
            kept.push(buffer);
        }
        kept.extend(total.iter_mut().flat_map(|total| &mut total.summands).flat_map(Summand::row_buffers));
        let read_later: Vec<BufferId> = kept.iter().map(|buffer| **buffer).collect();
        tile = fuse::fuse(tile, &mut native, &read_later);
        buffers::share(&mut tile, &mut native, BufferId::Native, &mut kept);
        buffers::share(&mut tile, &mut wide, BufferId::Wide, &mut kept);
        let tile_rows = tile_rows::<T>(&tile, &native, &wide).min(rows).max(1);
        let length = |buffer: &Buffer| buffer.features * if buffer.rows { tile_rows } else { 1 };
        let native: Vec<Vec<T>> = native.iter().map(|buffer| vec![T::ZERO; length(buffer)]).collect();
        let wide: Vec<Vec<f64>> = wide.iter().map(|buffer| vec![0.0; length(buffer)]).collect();
        let names = |list: &[Instruction]| list.iter().map(Instruction::name).collect();
        let with_buffer = |instruction: &Instruction| match instruction {
            Instruction::Fused(fused) => fused.outputs.len(),
            _ => 1,
        };
        let computed = before.len() + tile.iter().map(with_buffer).sum::<usize>() + after.len();
        let plan = Plan {
            instructions: [names(&before), names(&tile), names(&after)],
            buffers: native.iter().filter(|b| !b.is_empty()).count() + wide.iter().filter(|b| !b.is_empty()).count(),
            bytes: native.iter().map(|b| size_of_val(b.as_slice())).sum::<usize>()
                + wide.iter().map(|b| size_of_val(b.as_slice())).sum::<usize>(),
            tile_rows,
            fused: needed.iter().filter(|needed| **needed).count().saturating_sub(computed),
        };
        let read = tile.iter().filter_map(read).collect();
        let work = work(&tile);
        let adds_in_place = tile.iter().any(|instruction| match instruction {
            Instruction::SelectAdjointRows(selection) => matches!(selection.table, Table::Parameter(_)),
            _ => false,
        });
        let constants = constants(graph);
        let leaves = leaves.to_vec();
        Ok(Self {
            before,
            tile,
            after,
            accumulators,
            constants,
            row,
            total,
            gradients,
            adds_in_place,
            shared,
            shared_gradients,
            leaves,
            tile_rows,
            work,
            read,
            native,
            wide,
            plan,
        })
    }

    /// Returns the number of multiplications in matrix products per row. Programs with a large number are worth
    /// parallelizing.
    pub fn work(&self) -> usize {
        self.work
    }

    /// Returns the description of the program.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// Returns the number of multiplications in matrix products per row.
fn work(tile: &[Instruction]) -> usize {
    let products = tile.iter().map(|instruction| match instruction {
        Instruction::MultiplyData { width, columns, .. } | Instruction::ContractData { width, columns, .. } => {
            width * columns
        }
        Instruction::Matmul { size: [m, k, n], .. } | Instruction::Contract { size: [m, k, n], .. } => m * k * n,
        Instruction::MatrixFunction(MatrixCall { dim, columns, starts, .. }) => dim * dim * columns * starts.len() / 2,
        _ => 0,
    });
    products.sum()
}

/// Returns the data leaf that an instruction is the first to read in a tile, and the numbers per row.
fn read(instruction: &Instruction) -> Option<DataLeaf> {
    match instruction {
        Instruction::LoadData { leaf, width, .. }
        | Instruction::DotData { leaf, width, .. }
        | Instruction::MultiplyData { leaf, width, .. } => Some(DataLeaf { leaf: *leaf, width: *width }),
        _ => None,
    }
}

fn stored(term: &mut Term) -> Option<&mut BufferId> {
    match term {
        Term::Dense { buffer, rows: true, .. } | Term::DataRow { coefficients: buffer, .. } => Some(buffer),
        Term::Dense { .. } | Term::Number(_) => None,
    }
}

fn constants(graph: &Graph) -> Vec<Arc<[f64]>> {
    let used = graph.nodes().iter().filter_map(|node| match node.op {
        crate::graph::Op::Constant(number) => Some(number),
        _ => None,
    });
    let count = used.max().map_or(0, |largest| largest + 1);
    (0..count).map(|number| graph.constant_values(number).clone()).collect()
}

/// Returns the number of rows for which the memory of a tile fits the cache.
fn tile_rows<T>(tile: &[Instruction], native: &[Buffer], wide: &[Buffer]) -> usize {
    let features = |buffers: &[Buffer]| buffers.iter().filter(|b| b.rows).map(|b| b.features).sum::<usize>();
    let in_place: usize = tile
        .iter()
        .map(|instruction| match instruction {
            Instruction::DotData { width, .. } => *width,
            _ => 0,
        })
        .sum();
    let large = tile.iter().any(|instruction| match instruction {
        Instruction::MultiplyData { width, columns, .. } => width * columns >= LARGE_PRODUCT,
        Instruction::Matmul { size: [m, k, n], .. } => m * k * n >= LARGE_PRODUCT,
        _ => false,
    });
    let bytes = features(native) * size_of::<T>() + features(wide) * size_of::<f64>();
    let budget = if large { LARGE_TILE_BYTES } else { TILE_BYTES };
    let fit = |budget: usize, bytes: usize| budget / bytes.max(1);
    let rows = fit(budget, bytes).min(fit(IN_PLACE_BYTES, in_place * size_of::<T>()));
    let rows = rows.clamp(TILE_ROWS.start, TILE_ROWS.end);
    if tile.iter().any(|instruction| matches!(instruction, Instruction::Scan(_))) {
        // Sequences are long: a tile has fewer rows if the smallest one would not fit the cache.
        return (rows / 16 * 16).min(fit(LARGE_TILE_BYTES, bytes)).max(1);
    }
    rows / 16 * 16
}
