//! Running a program.

mod fused;
mod index;
mod load;
mod map;
mod product;
mod reduce;
mod row_gradients;
mod selected;
mod total;

pub use crate::kernels::Lines;
pub use load::{Column, Columns, Real};

use super::Program;
use super::instruction::Instruction;
use super::lower::{Gradient, RowValue, Term};
use super::view::Store;
use crate::kernels::{Simd, add_to_f64, sum};

/// What a program is run on.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The coordinates.
    pub theta: &'a [f64],
    /// The data.
    pub columns: &'a dyn Columns,
    /// Which rows.
    pub lines: Lines<'a>,
    /// How many.
    pub rows: usize,
    /// One weight per row; all one if there are none.
    pub weights: Option<&'a [f64]>,
    /// What the sum over the rows, and its gradient, are multiplied with.
    pub scale: f64,
}

/// What becomes of the results.
#[derive(Debug)]
pub enum Sink<'a> {
    /// Nothing but the total is wanted.
    Total,
    /// The gradient of the total is added to this.
    Gradient(&'a mut [f64]),
    /// The value of each row is written here.
    Rows(&'a mut [f64]),
    /// The gradient of each row is written here, row after row of as many numbers as there are coordinates.
    RowGradients(&'a mut [f64]),
}

/// What can go wrong in a run.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the index {index} is out of range: the axis has length {length}")]
pub struct RunError {
    /// The integer that was found.
    pub index: f64,
    /// The length of the axis it was used on.
    pub length: usize,
}

/// The tile under way.
#[derive(Clone, Copy, Debug)]
struct Tile<'a> {
    call: &'a Call<'a>,
    /// The position of its first row in the call.
    first: usize,
    /// How many rows it has.
    t: usize,
}

impl<'a> Tile<'a> {
    fn lines(&self) -> Lines<'a> {
        match self.call.lines {
            Lines::Range(start) => Lines::Range(start + self.first),
            Lines::List(rows) => Lines::List(&rows[self.first..self.first + self.t]),
        }
    }

    /// The part of `out`, which has as many numbers for each row of the call, that belongs to the tile.
    fn rows_of<'o>(&self, out: &'o mut [f64]) -> &'o mut [f64] {
        let each = out.len() / self.call.rows.max(1);
        &mut out[self.first * each..(self.first + self.t) * each]
    }
}

/// The buffers, and what instructions are run with.
struct Machine<'a, T> {
    simd: Simd,
    native: &'a mut [Vec<T>],
    wide: &'a mut [Vec<f64>],
}

impl<T: Real> Program<T> {
    /// Asks for the rows that a run on `call` reads first; the kernels ask for the others as they go.
    pub fn prefetch(&self, call: Call<'_>) {
        load::prefetch_rows(&self.read, call);
    }

    /// Runs the program; returns scale · Σ wᵢ · (value of row i) + the shared value.
    ///
    /// # Errors
    ///
    /// If an integer of the data is not an index of what it is used on.
    pub fn run(&mut self, call: Call<'_>, mut sink: Sink<'_>) -> Result<f64, RunError> {
        let Self { before, tile, after, accumulators, constants, leaves, native, wide, .. } = self;
        let Self { row, total, gradients, adds_in_place, shared, shared_gradients, .. } = self;
        let mut machine = Machine { simd: Simd::new(), native, wide };
        for store in accumulators.iter() {
            machine.clear(*store);
        }
        let mut context = Context { constants, leaves, sink: &mut sink };
        let whole = Tile { call: &call, first: 0, t: 1 };
        for instruction in before.iter() {
            machine.execute(instruction, &whole, &mut context)?;
        }
        let (mut sum, mut first) = (0.0, 0);
        while first < call.rows {
            let now = Tile { call: &call, first, t: self.tile_rows.min(call.rows - first) };
            if let (Sink::RowGradients(out), true) = (&mut *context.sink, *adds_in_place) {
                now.rows_of(out).fill(0.0);
            }
            for instruction in tile.iter() {
                machine.execute(instruction, &now, &mut context)?;
            }
            if let Some(row) = row {
                sum += machine.row_values(row, &now, context.sink);
            }
            if let Some(total) = total {
                sum += machine.total(total, now.t);
            }
            if let Sink::RowGradients(out) = context.sink {
                machine.row_gradients(gradients, leaves, &now, (out, *adds_in_place));
            }
            first += now.t;
        }
        for instruction in after.iter() {
            machine.execute(instruction, &whole, &mut context)?;
        }
        if let Sink::Gradient(gradient) = sink {
            machine.gradients(gradients, leaves, call.scale, gradient);
            machine.gradients(shared_gradients, leaves, 1.0, gradient);
        }
        let shared = shared.as_ref().map_or(0.0, |value| machine.total(value, 1));
        Ok(call.scale * sum + shared)
    }
}

/// What instructions need besides the buffers.
struct Context<'a, 's> {
    constants: &'a [std::sync::Arc<[f64]>],
    leaves: &'a [std::ops::Range<usize>],
    sink: &'a mut Sink<'s>,
}

impl<T: Real> Machine<'_, T> {
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
            Instruction::Map { function, operands, over, out } => self.map(*function, operands, over, t, *out),
            Instruction::Fused(fused) => self.fused(fused, t),
            Instruction::Convert { from, features, rows, out } => {
                self.convert(*from, *out, features * if *rows { t } else { 1 });
            }
            Instruction::Clear { features, rows, out } => {
                self.clear_part(*out, features * if *rows { t } else { 1 });
            }
            Instruction::Place { from, over, out } => self.place(*from, over, t, *out),
            Instruction::Reduce { op, from, over, count, step, out } => {
                self.reduce(*op, (*from, over), (*count, *step), t, *out);
            }
            Instruction::CumSum { from, over, count, steps, reverse, out } => {
                self.cumsum((*from, over), (*count, *steps, *reverse), t, *out);
            }
            Instruction::SumRows { from, starts, out } => self.sum_rows(*from, starts, t, *out),
            Instruction::DotRows { a, b, starts, out } => self.dot_rows([*a, *b], starts, t, *out),
            Instruction::Matmul { size, a, b, out_offset, rows, out } => {
                self.matmul(*size, [a, b], (*out, *out_offset), if *rows { Some(t) } else { None });
            }
            Instruction::Contract { size, a, b, out_offset, out } => {
                self.contract(*size, [a, b], (*out, *out_offset), t);
            }
            Instruction::DotData { leaf, width, vector, offset, out } => {
                self.dot_data(tile, (*leaf, *width), (*vector, *offset), *out);
            }
            Instruction::AccumulateData { leaf, width, coefficients, offset, out } => {
                self.accumulate_data(tile, (*leaf, *width), (*coefficients, *offset), *out);
            }
            Instruction::MultiplyData { leaf, width, columns, matrix, offset, strides, panels, out } => {
                let matrix = (*matrix, *offset, *strides);
                self.multiply_data(tile, (*leaf, *width), matrix, *panels, (*out, *columns));
            }
            Instruction::ContractData { leaf, width, columns, coefficients, offset, strides, copies, out } => {
                let coefficients = (*coefficients, *offset, *columns);
                self.contract_data(tile, (*leaf, *width), coefficients, *copies, (*out, *strides));
            }
            Instruction::Select(selection) => self.select(selection, tile, context.leaves)?,
            Instruction::SelectAdjoint(selection) => {
                self.select_adjoint(selection, tile, context.leaves, context.sink)?;
            }
            Instruction::SelectAdjointRows(selection) => {
                self.select_adjoint_rows(selection, tile, context.leaves, context.sink)?;
            }
            Instruction::DotSelected { rows, width, out } => {
                self.dot_selected(rows, *width, *out, (tile, context.leaves))?;
            }
            Instruction::AddSelected { from, to, width, coefficients, factor } => {
                let coefficients = (*coefficients, *factor);
                self.add_selected([from, to], *width, coefficients, (tile, context.leaves), context.sink)?;
            }
            Instruction::Gather(gathering) => self.gather(gathering, t)?,
            Instruction::GatherAdjoint(gathering) => self.gather_adjoint(gathering, t)?,
        }
        Ok(())
    }

    /// Σ wᵢ · (value of row i) over the tile; the values go to `sink` if it wants them.
    fn row_values(&self, row: &RowValue, tile: &Tile<'_>, sink: &mut Sink<'_>) -> f64 {
        let Tile { first, t, .. } = *tile;
        if let Sink::Rows(out) = sink {
            let out = &mut out[first..first + t];
            match row {
                RowValue::Rows(Store::Native(buffer), feature) => {
                    let values = &self.native[*buffer][feature * t..][..t];
                    out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_f64());
                }
                row => out.iter_mut().enumerate().for_each(|(lane, out)| *out = self.row_value(row, t, lane)),
            }
        }
        match (tile.call.weights, row) {
            (None, RowValue::Rows(Store::Native(buffer), feature)) => {
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
            RowValue::Rows(store, feature) => self.number(*store, feature * t + lane),
            shared => self.shared_value(shared),
        }
    }

    fn shared_value(&self, value: &RowValue) -> f64 {
        match value {
            RowValue::Number(number) => *number,
            RowValue::Shared(store, offset) | RowValue::Rows(store, offset) => self.number(*store, *offset),
        }
    }

    fn number(&self, store: Store, position: usize) -> f64 {
        match store {
            Store::Native(buffer) => self.native[buffer][position].to_f64(),
            Store::Wide(buffer) => self.wide[buffer][position],
        }
    }

    fn gradients(&self, gradients: &[Gradient], leaves: &[std::ops::Range<usize>], scale: f64, out: &mut [f64]) {
        for gradient in gradients {
            let out = &mut out[leaves[gradient.leaf].clone()];
            for term in &gradient.terms {
                match term {
                    Term::Number(number) => out.iter_mut().for_each(|sum| *sum += scale * number),
                    Term::Dense { store: Store::Native(buffer), offset, factor, .. } => {
                        let values = &self.native[*buffer][*offset..offset + gradient.size];
                        add_to_f64(self.simd, scale * factor, values, out);
                    }
                    // Only the gradient of each row has others.
                    Term::Dense { store: Store::Wide(_), .. } | Term::DataRow { .. } => {}
                }
            }
        }
    }
}
