//! Execution of element-wise functions and copies between buffers.

use super::{Executor, Real};
use crate::kernels::{self, Element, Operand, Simd};
use crate::program::instruction::{Function, Source};
use crate::program::view::{BufferId, LoopPlan, TileLoop};

impl<T: Real> Executor<'_, T> {
    pub(super) fn map(&mut self, function: Function, operands: &[Source], over: TileLoop<'_>, out: BufferId) {
        match out {
            BufferId::Native(out) => map(self.simd, self.native, function, operands, over, out),
            BufferId::Wide(out) => map(self.simd, self.wide, function, operands, over, out),
        }
    }

    pub(super) fn write_region(&mut self, from: Source, over: TileLoop<'_>, out: BufferId) {
        match out {
            BufferId::Native(out) => write_region(self.native, from, over, out),
            BufferId::Wide(out) => write_region(self.wide, from, over, out),
        }
    }

    pub(super) fn convert(&mut self, from: BufferId, out: BufferId, length: usize) {
        match (from, out) {
            (BufferId::Wide(from), BufferId::Native(out)) => {
                kernels::load_f64(self.simd, &self.wide[from][..length], &mut self.native[out][..length]);
            }
            (BufferId::Native(from), BufferId::Wide(out)) => {
                let pairs = self.wide[out][..length].iter_mut().zip(&self.native[from][..length]);
                pairs.for_each(|(out, value)| *out = value.to_f64().trunc());
            }
            (BufferId::Native(_), BufferId::Native(_)) | (BufferId::Wide(_), BufferId::Wide(_)) => {}
        }
    }
}

/// The resolved source of an operand.
#[derive(Clone, Copy)]
enum ResolvedOperand<'a, E> {
    Number(E),
    /// One number per run; the second field is the index of the operand among the starts of the loop.
    Broadcast(&'a [E], usize),
    /// One number for each element of a run; the second field is as in `Broadcast`.
    Elements(&'a [E], usize),
}

/// Resolves the operands, of which there are at most three. Numbers have no start in the loop.
fn resolved<'a, E: Element>(
    buffers: &'a [Vec<E>],
    operands: &[Source],
    over: &LoopPlan,
) -> [ResolvedOperand<'a, E>; 3] {
    let (mut resolved, mut slot) = ([ResolvedOperand::Number(E::NAN); 3], 0);
    for (operand, source) in resolved.iter_mut().zip(operands) {
        *operand = match source {
            Source::Number(number) => ResolvedOperand::Number(E::from_f64(*number)),
            Source::Buffer(buffer) => {
                let (values, splat, at) = (buffers[number(*buffer)].as_slice(), over.splat[slot], slot);
                slot += 1;
                if splat { ResolvedOperand::Broadcast(values, at) } else { ResolvedOperand::Elements(values, at) }
            }
        };
    }
    resolved
}

fn map<E: Element>(
    simd: Simd,
    buffers: &mut [Vec<E>],
    function: Function,
    operands: &[Source],
    over: TileLoop<'_>,
    out: usize,
) {
    // The output buffer is not an operand.
    let mut target = std::mem::take(&mut buffers[out]);
    let (over, lanes) = (over.plan, over.lanes());
    let length = over.run * lanes;
    if let (Function::Copy, [Source::Buffer(buffer)], 1, false) = (function, operands, over.run, over.rows) {
        let from = &buffers[number(*buffer)];
        over.starts.iter().for_each(|[to, at, ..]| target[*to] = from[*at]);
        buffers[out] = target;
        return;
    }
    let resolved = resolved(buffers, operands, over);
    for [to, starts @ ..] in &over.starts {
        let target = &mut target[to * lanes..][..length];
        let operand = |i: usize| match resolved[i] {
            ResolvedOperand::Number(number) => Operand::Splat(number),
            ResolvedOperand::Broadcast(values, slot) => Operand::Splat(values[starts[slot]]),
            ResolvedOperand::Elements(values, slot) => Operand::Slice(&values[starts[slot] * lanes..][..length]),
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

fn write_region<E: Element>(buffers: &mut [Vec<E>], from: Source, over: TileLoop<'_>, out: usize) {
    let mut target = std::mem::take(&mut buffers[out]);
    let (over, lanes) = (over.plan, over.lanes());
    let length = over.run * lanes;
    for [_, to, at, _] in &over.starts {
        let target = &mut target[to * lanes..][..length];
        match from {
            Source::Number(number) => target.fill(E::from_f64(number)),
            Source::Buffer(buffer) => {
                let values = &buffers[number(buffer)];
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

fn number(buffer: BufferId) -> usize {
    match buffer {
        BufferId::Native(number) | BufferId::Wide(number) => number,
    }
}
