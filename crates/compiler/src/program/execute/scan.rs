//! Execution of recurrences.
//!
//! For one observation a register is a number, for several a block of numbers. The functions of a step are compiled for
//! both.

use super::{Executor, Real};
use crate::kernels::{LANES, Simd, run_numbers, run_steps};
use crate::program::scan::{Initial, Load, ScanOperands};
use crate::program::view::BufferId;

impl<T: Real> Executor<'_, T> {
    pub(super) fn scan(&mut self, scan: &ScanOperands, t: usize) {
        let (BufferId::Native(scratch), BufferId::Native(out)) = (scan.scratch, scan.out) else { return };
        let (mut registers, mut states) =
            (std::mem::take(&mut self.native[scratch]), std::mem::take(&mut self.native[out]));
        let lanes = if scan.rows { t } else { 1 };
        if lanes == 1 {
            one(self.simd, scan, self.native, &mut registers, &mut states);
        } else {
            let blocks = registers.as_chunks_mut::<LANES>().0;
            let mut first = 0;
            while first < lanes {
                let part = Part { native: self.native, lanes, first, count: LANES.min(lanes - first) };
                many(self.simd, scan, part, blocks, &mut states);
                first += LANES;
            }
        }
        self.native[scratch] = registers;
        self.native[out] = states;
    }
}

/// Executes a recurrence of one observation.
fn one<T: Real>(simd: Simd, scan: &ScanOperands, native: &[Vec<T>], registers: &mut [T], states: &mut [T]) {
    let (columns, scalars) = (scan.steps + 1, &scan.scalars);
    for (register, number) in scalars.fixed() {
        registers[register] = T::from_f64(number);
    }
    for load in &scan.invariants {
        registers[load.register] = number(native, load, 0);
    }
    let first = if scan.reverse { scan.steps } else { 0 };
    for (row, initial) in scan.initial.iter().enumerate() {
        states[row * columns + first] = match initial {
            Initial::Number(number) => T::from_f64(*number),
            Initial::Load(load) => number(native, load, 0),
        };
    }
    simd.run(
        #[inline(always)]
        move |fma| {
            for position in 0..scan.steps {
                let step = if scan.reverse { scan.steps - 1 - position } else { position };
                let [before, after] = scan.columns(step);
                for (row, register) in scan.state.iter().enumerate() {
                    if let Some(register) = register {
                        registers[*register] = states[row * columns + before];
                    }
                }
                for load in &scan.inputs {
                    registers[load.register] = number(native, load, step);
                }
                run_numbers(fma, &scalars.functions, registers);
                for (row, register) in scalars.next.iter().enumerate() {
                    states[row * columns + after] = registers[*register];
                }
            }
        },
    );
}

/// Returns the number of a single observation at a step.
#[inline(always)]
fn number<T: Real>(native: &[Vec<T>], load: &Load, step: usize) -> T {
    let BufferId::Native(buffer) = load.buffer else { return T::NAN };
    native[buffer][load.start.wrapping_add_signed(load.stride * step as isize)]
}

/// The observations of a tile that are executed together.
#[derive(Clone, Copy)]
struct Part<'a, T> {
    native: &'a [Vec<T>],
    /// The number of observations of the tile.
    lanes: usize,
    first: usize,
    count: usize,
}

impl<T: Real> Part<'_, T> {
    /// Loads the numbers of the observations at a step.
    fn load(&self, load: &Load, step: usize, block: &mut [T; LANES]) {
        let BufferId::Native(buffer) = load.buffer else { return };
        let feature = load.start.wrapping_add_signed(load.stride * step as isize);
        if load.rows {
            let from = &self.native[buffer][feature * self.lanes + self.first..][..self.count];
            block[..self.count].copy_from_slice(from);
        } else {
            *block = [self.native[buffer][feature]; LANES];
        }
    }
}

/// Executes a recurrence of several observations.
fn many<T: Real>(simd: Simd, scan: &ScanOperands, part: Part<'_, T>, blocks: &mut [[T; LANES]], states: &mut [T]) {
    let (columns, scalars) = (scan.steps + 1, &scan.scalars);
    let Part { lanes, first, count, .. } = part;
    let at = |row: usize, column: usize| (row * columns + column) * lanes + first;
    for (register, number) in scalars.fixed() {
        blocks[register] = [T::from_f64(number); LANES];
    }
    for load in &scan.invariants {
        part.load(load, 0, &mut blocks[load.register]);
    }
    let start = if scan.reverse { scan.steps } else { 0 };
    for (row, initial) in scan.initial.iter().enumerate() {
        let mut block = [T::ZERO; LANES];
        match initial {
            Initial::Number(number) => block = [T::from_f64(*number); LANES],
            Initial::Load(load) => part.load(load, 0, &mut block),
        }
        states[at(row, start)..][..count].copy_from_slice(&block[..count]);
    }
    for position in 0..scan.steps {
        let step = if scan.reverse { scan.steps - 1 - position } else { position };
        let [before, after] = scan.columns(step);
        for (row, register) in scan.state.iter().enumerate() {
            if let Some(register) = register {
                blocks[*register][..count].copy_from_slice(&states[at(row, before)..][..count]);
            }
        }
        for load in &scan.inputs {
            part.load(load, step, &mut blocks[load.register]);
        }
        run_steps(simd, &scalars.functions, blocks);
        for (row, register) in scalars.next.iter().enumerate() {
            states[at(row, after)..][..count].copy_from_slice(&blocks[*register][..count]);
        }
    }
}
