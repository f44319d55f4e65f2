//! Execution of programs.

mod fused;
mod index;
mod load;
mod map;
mod matrices;
mod product;
mod reduce;
mod row_gradients;
mod scan;
mod selected;
mod total;

pub use crate::kernels::RowSelection;
pub use load::{Column, Columns, Real};
use reduce::{ReducedAxis, ScannedAxis};

use super::Program;
use super::instruction::{DataLeaf, Instruction, MatrixView};
use super::lower::{Gradient, RowValue, Term};
use super::view::{BufferId, Location, TileLoop};
use crate::kernels::{Simd, add_to_f64, sum};

/// The arguments of a run.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The coordinates of the parameters.
    pub theta: &'a [f64],
    /// The data set.
    pub columns: &'a dyn Columns,
    /// The selected rows.
    pub selection: RowSelection<'a>,
    /// The number of selected rows.
    pub rows: usize,
    /// The weights of the rows; `None` means unit weights.
    pub weights: Option<&'a [f64]>,
    /// The factor of the sum over the rows and of its gradient.
    pub scale: f64,
}

/// The output of a run, besides the total.
#[derive(Debug)]
pub enum Output<'a> {
    /// The total only.
    Total,
    /// The gradient of the total, which is added to the slice.
    Gradient(&'a mut [f64]),
    /// The value of each row.
    Rows(&'a mut [f64]),
    /// The gradient of each row, in row-major order with one column per coordinate.
    RowGradients(&'a mut [f64]),
}

/// The error of a run: an index of the data is out of range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the index {index} is out of range: the axis has length {length}")]
pub struct RunError {
    /// The invalid index.
    pub index: f64,
    /// The length of the indexed axis.
    pub length: usize,
}

/// The current tile.
#[derive(Clone, Copy, Debug)]
struct Tile<'a> {
    call: &'a Call<'a>,
    /// The position of the first row of the tile in the call.
    first: usize,
    /// The number of rows of the tile.
    t: usize,
}

impl<'a> Tile<'a> {
    fn selection(&self) -> RowSelection<'a> {
        match self.call.selection {
            RowSelection::Range(start) => RowSelection::Range(start + self.first),
            RowSelection::List(rows) => RowSelection::List(&rows[self.first..self.first + self.t]),
        }
    }

    /// Returns the part of `out` that belongs to the tile. `out` has the same number of values for each row of the
    /// call.
    fn rows_of<'o>(&self, out: &'o mut [f64]) -> &'o mut [f64] {
        let each = out.len() / self.call.rows.max(1);
        &mut out[self.first * each..(self.first + self.t) * each]
    }
}

/// The execution state: the buffers and the instruction set.
struct Executor<'a, T> {
    simd: Simd,
    native: &'a mut [Vec<T>],
    wide: &'a mut [Vec<f64>],
}

impl<T: Real> Program<T> {
    /// Prefetches the rows that a run on `call` reads first. The kernels prefetch the others.
    pub fn prefetch(&self, call: Call<'_>) {
        load::prefetch_rows(&self.read, call);
    }

    /// Runs the program. Returns scale · Σ wᵢ · (value of row i) + the shared value.
    ///
    /// # Errors
    ///
    /// Returns an error if an integer of the data is out of range of the axis that it indexes.
    pub fn run(&mut self, call: Call<'_>, mut output: Output<'_>) -> Result<f64, RunError> {
        let Self { before, tile, after, accumulators, constants, leaves, native, wide, .. } = self;
        let Self { row, total, gradients, adds_in_place, shared, shared_gradients, .. } = self;
        let mut executor = Executor { simd: Simd::new(), native, wide };
        for buffer in accumulators.iter() {
            executor.clear(*buffer);
        }
        let mut context = Context { constants, leaves, output: &mut output };
        let whole = Tile { call: &call, first: 0, t: 1 };
        for instruction in before.iter() {
            executor.execute(instruction, &whole, &mut context)?;
        }
        let (mut sum, mut first) = (0.0, 0);
        while first < call.rows {
            let now = Tile { call: &call, first, t: self.tile_rows.min(call.rows - first) };
            if let (Output::RowGradients(out), true) = (&mut *context.output, *adds_in_place) {
                now.rows_of(out).fill(0.0);
            }
            for instruction in tile.iter() {
                executor.execute(instruction, &now, &mut context)?;
            }
            if let Some(row) = row {
                sum += executor.row_values(row, &now, context.output);
            }
            if let Some(total) = total {
                sum += executor.total(total, now.t);
            }
            if let Output::RowGradients(out) = context.output {
                executor.row_gradients(gradients, leaves, &now, out, *adds_in_place);
            }
            first += now.t;
        }
        for instruction in after.iter() {
            executor.execute(instruction, &whole, &mut context)?;
        }
        if let Output::Gradient(gradient) = output {
            executor.gradients(gradients, leaves, call.scale, gradient);
            executor.gradients(shared_gradients, leaves, 1.0, gradient);
        }
        let shared = shared.as_ref().map_or(0.0, |value| executor.total(value, 1));
        Ok(call.scale * sum + shared)
    }
}

/// The data of a run besides the buffers.
struct Context<'a, 's> {
    constants: &'a [std::sync::Arc<[f64]>],
    leaves: &'a [std::ops::Range<usize>],
    output: &'a mut Output<'s>,
}

impl<T: Real> Executor<'_, T> {
    fn execute(
        &mut self,
        instruction: &Instruction,
        tile: &Tile<'_>,
        context: &mut Context<'_, '_>,
    ) -> Result<(), RunError> {
        let t = tile.t;
        match instruction {
            Instruction::LoadParameter { leaf, out } => {
                self.load_numbers(&tile.call.theta[context.leaves[*leaf].clone()], *out);
            }
            Instruction::LoadConstant { constant, out } => self.load_numbers(&context.constants[*constant], *out),
            Instruction::LoadData { leaf, width, out } => self.load_data(tile, *leaf, *width, *out),
            Instruction::LoadWeights { out } => self.load_weights(tile, *out),
            Instruction::Map { function, operands, over, out } => {
                self.map(*function, operands, TileLoop { plan: over, t }, *out)
            }
            Instruction::Fused(fused) => self.fused(fused, t),
            Instruction::Convert { from, features, rows, out } => {
                self.convert(*from, *out, features * if *rows { t } else { 1 });
            }
            Instruction::Clear { features, rows, out } => {
                self.clear_part(*out, features * if *rows { t } else { 1 });
            }
            Instruction::WriteRegion { from, over, out } => self.write_region(*from, TileLoop { plan: over, t }, *out),
            Instruction::Reduce { op, from, over, count, step, out } => {
                let axis = ReducedAxis { count: *count, step: *step };
                self.reduce(*op, *from, axis, TileLoop { plan: over, t }, *out);
            }
            Instruction::CumSum { from, over, count, steps, reverse, out } => {
                let axis = ScannedAxis { count: *count, steps: *steps, reverse: *reverse };
                self.cumsum(*from, axis, TileLoop { plan: over, t }, *out);
            }
            Instruction::SumRows { from, starts, out } => self.sum_rows(*from, starts, t, *out),
            Instruction::DotRows { a, b, starts, out } => self.dot_rows([*a, *b], starts, t, *out),
            Instruction::Matmul { size, a, b, out_offset, rows, out } => {
                let out = Location { buffer: *out, offset: *out_offset };
                self.matmul(*size, [a, b], out, if *rows { Some(t) } else { None });
            }
            Instruction::MatrixFunction(call) => self.matrix_function(call, t),
            Instruction::Contract { size, a, b, out_offset, out } => {
                self.contract(*size, [a, b], Location { buffer: *out, offset: *out_offset }, t);
            }
            Instruction::DotData { leaf, width, vector, offset, out } => {
                let vector = Location { buffer: *vector, offset: *offset };
                self.dot_data(tile, DataLeaf { leaf: *leaf, width: *width }, vector, *out);
            }
            Instruction::AccumulateData { leaf, width, coefficients, offset, out } => {
                let coefficients = Location { buffer: *coefficients, offset: *offset };
                self.accumulate_data(tile, DataLeaf { leaf: *leaf, width: *width }, coefficients, *out);
            }
            Instruction::MultiplyData { leaf, width, columns, matrix, offset, strides, panels, out } => {
                let matrix = MatrixView { buffer: *matrix, rows: false, offset: *offset, strides: *strides };
                let data = DataLeaf { leaf: *leaf, width: *width };
                self.multiply_data(tile, data, &matrix, *panels, *out, *columns);
            }
            Instruction::ContractData { leaf, width, columns, coefficients, offset, strides, copies, out } => {
                let coefficients = Location { buffer: *coefficients, offset: *offset };
                let out = MatrixView { buffer: *out, rows: false, offset: 0, strides: *strides };
                let data = DataLeaf { leaf: *leaf, width: *width };
                self.contract_data(tile, data, coefficients, *columns, *copies, &out);
            }
            Instruction::Select(selection) => self.select(selection, tile, context.leaves)?,
            Instruction::SelectAdjoint(selection) => {
                self.select_adjoint(selection, tile, context.leaves, context.output)?;
            }
            Instruction::SelectAdjointRows(selection) => {
                self.select_adjoint_rows(selection, tile, context.leaves, context.output)?;
            }
            Instruction::DotSelected { rows, width, out } => {
                self.dot_selected(rows, *width, *out, tile, context.leaves)?;
            }
            Instruction::AddSelected { from, to, width, coefficients, factor } => {
                self.add_selected([from, to], *width, *coefficients, *factor, tile, context)?;
            }
            Instruction::Gather(gathering) => self.gather(gathering, t)?,
            Instruction::GatherAdjoint(gathering) => self.gather_adjoint(gathering, t)?,
            Instruction::Scan(scan) => self.scan(scan, t),
        }
        Ok(())
    }

    /// Returns Σ wᵢ · (value of row i) over the tile. Writes the values to the output if it is [`Output::Rows`].
    fn row_values(&self, row: &RowValue, tile: &Tile<'_>, output: &mut Output<'_>) -> f64 {
        let Tile { first, t, .. } = *tile;
        if let Output::Rows(out) = output {
            let out = &mut out[first..first + t];
            match row {
                RowValue::Rows(BufferId::Native(buffer), feature) => {
                    let values = &self.native[*buffer][feature * t..][..t];
                    out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_f64());
                }
                row => out.iter_mut().enumerate().for_each(|(lane, out)| *out = self.row_value(row, t, lane)),
            }
        }
        match (tile.call.weights, row) {
            (None, RowValue::Rows(BufferId::Native(buffer), feature)) => {
                sum(self.simd, &self.native[*buffer][feature * t..][..t]).to_f64()
            }
            (None, row) => (0..t).map(|lane| self.row_value(row, t, lane)).sum(),
            (Some(weights), row) => {
                let weights = weights[first..first + t].iter().enumerate();
                weights.map(|(lane, weight)| weight * self.row_value(row, t, lane)).sum()
            }
        }
    }

    fn row_value(&self, row: &RowValue, t: usize, lane: usize) -> f64 {
        match row {
            RowValue::Rows(buffer, feature) => self.number(*buffer, feature * t + lane),
            shared => self.shared_value(shared),
        }
    }

    fn shared_value(&self, value: &RowValue) -> f64 {
        match value {
            RowValue::Number(number) => *number,
            RowValue::Shared(buffer, offset) | RowValue::Rows(buffer, offset) => self.number(*buffer, *offset),
        }
    }

    fn number(&self, buffer: BufferId, position: usize) -> f64 {
        match buffer {
            BufferId::Native(buffer) => self.native[buffer][position].to_f64(),
            BufferId::Wide(buffer) => self.wide[buffer][position],
        }
    }

    fn gradients(&self, gradients: &[Gradient], leaves: &[std::ops::Range<usize>], scale: f64, out: &mut [f64]) {
        for gradient in gradients {
            let out = &mut out[leaves[gradient.leaf].clone()];
            for term in &gradient.terms {
                match term {
                    Term::Number(number) => out.iter_mut().for_each(|sum| *sum += scale * number),
                    Term::Dense { buffer: BufferId::Native(buffer), offset, factor, .. } => {
                        let values = &self.native[*buffer][*offset..offset + gradient.size];
                        add_to_f64(self.simd, scale * factor, values, out);
                    }
                    // The other terms occur only in gradients of each row.
                    Term::Dense { buffer: BufferId::Wide(_), .. } | Term::DataRow { .. } => {}
                }
            }
        }
    }
}
