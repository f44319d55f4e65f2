//! Element-wise functions, and copies between buffers.

use super::{Machine, Real};
use crate::kernels::{self, Element, Operand, Simd};
use crate::program::instruction::{Function, Source};
use crate::program::view::{Loop, Store};

impl<T: Real> Machine<'_, T> {
    pub(super) fn map(&mut self, function: Function, operands: &[Source], over: &Loop, t: usize, out: Store) {
        match out {
            Store::Native(out) => map(self.simd, self.native, (function, operands), (over, t), out),
            Store::Wide(out) => map(self.simd, self.wide, (function, operands), (over, t), out),
        }
    }

    pub(super) fn place(&mut self, from: Source, over: &Loop, t: usize, out: Store) {
        match out {
            Store::Native(out) => place(self.native, from, (over, t), out),
            Store::Wide(out) => place(self.wide, from, (over, t), out),
        }
    }

    pub(super) fn convert(&mut self, from: Store, out: Store, length: usize) {
        match (from, out) {
            (Store::Wide(from), Store::Native(out)) => {
                kernels::load_f64(self.simd, &self.wide[from][..length], &mut self.native[out][..length]);
            }
            (Store::Native(from), Store::Wide(out)) => {
                let pairs = self.wide[out][..length].iter_mut().zip(&self.native[from][..length]);
                pairs.for_each(|(out, value)| *out = value.to_f64().trunc());
            }
            (Store::Native(_), Store::Native(_)) | (Store::Wide(_), Store::Wide(_)) => {}
        }
    }
}

/// Where an operand is read.
#[derive(Clone, Copy)]
enum Reading<'a, E> {
    Number(E),
    /// One number for a run, and each its own; at which of the loop's starts.
    One(&'a [E], usize),
    Each(&'a [E], usize),
}

/// The readings of the operands, of which there are at most three. Numbers have no start in the loop.
fn readings<'a, E: Element>(buffers: &'a [Vec<E>], operands: &[Source], over: &Loop) -> [Reading<'a, E>; 3] {
    let (mut readings, mut place) = ([Reading::Number(E::NAN); 3], 0);
    for (reading, source) in readings.iter_mut().zip(operands) {
        *reading = match source {
            Source::Number(number) => Reading::Number(E::from_f64(*number)),
            Source::Store(store) => {
                let (values, splat, at) = (buffers[number(*store)].as_slice(), over.splat[place], place);
                place += 1;
                if splat { Reading::One(values, at) } else { Reading::Each(values, at) }
            }
        };
    }
    readings
}

fn map<E: Element>(
    simd: Simd,
    buffers: &mut [Vec<E>],
    (function, operands): (Function, &[Source]),
    (over, t): (&Loop, usize),
    out: usize,
) {
    // No operand is the buffer that is written.
    let mut target = std::mem::take(&mut buffers[out]);
    let lanes = if over.rows { t } else { 1 };
    let length = over.run * lanes;
    if let (Function::Copy, [Source::Store(store)], 1, false) = (function, operands, over.run, over.rows) {
        let from = &buffers[number(*store)];
        over.starts.iter().for_each(|[to, at, ..]| target[*to] = from[*at]);
        buffers[out] = target;
        return;
    }
    let readings = readings(buffers, operands, over);
    for [to, starts @ ..] in &over.starts {
        let target = &mut target[to * lanes..][..length];
        let operand = |i: usize| match readings[i] {
            Reading::Number(number) => Operand::Splat(number),
            Reading::One(values, place) => Operand::Splat(values[starts[place]]),
            Reading::Each(values, place) => Operand::Slice(&values[starts[place] * lanes..][..length]),
        };
        match function {
            Function::Copy => match operand(0) {
                Operand::Slice(values) => target.copy_from_slice(values),
                Operand::Splat(value) => target.fill(value),
            },
            Function::Unary(op) => match operand(0) {
                Operand::Slice(values) => kernels::unary(simd, op, values, target),
                Operand::Splat(value) => {
                    let mut result = [value];
                    kernels::unary(simd, op, &[value], &mut result);
                    target.fill(result[0]);
                }
            },
            Function::Binary(op) => kernels::binary(simd, op, operand(0), operand(1), target),
            Function::Compare(op) => kernels::compare(simd, op, operand(0), operand(1), target),
            Function::Logic(op) => kernels::logic(simd, op, operand(0), operand(1), target),
            Function::Where => kernels::select_where(simd, operand(0), operand(1), operand(2), target),
        }
    }
    buffers[out] = target;
}

fn place<E: Element>(buffers: &mut [Vec<E>], from: Source, (over, t): (&Loop, usize), out: usize) {
    let mut target = std::mem::take(&mut buffers[out]);
    let lanes = if over.rows { t } else { 1 };
    let length = over.run * lanes;
    for [_, to, at, _] in &over.starts {
        let target = &mut target[to * lanes..][..length];
        match from {
            Source::Number(number) => target.fill(E::from_f64(number)),
            Source::Store(store) => {
                let values = &buffers[number(store)];
                if over.splat[1] {
                    target.fill(values[*at]);
                } else {
                    target.copy_from_slice(&values[at * lanes..][..length]);
                }
            }
        }
    }
    buffers[out] = target;
}

fn number(store: Store) -> usize {
    match store {
        Store::Native(number) | Store::Wide(number) => number,
    }
}
