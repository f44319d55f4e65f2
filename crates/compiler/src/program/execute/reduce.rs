//! Reductions.

use super::{Machine, Real};
use crate::graph::ReduceOp;
use crate::kernels::{self, Element, Simd};
use crate::program::view::{Loop, Store};

impl<T: Real> Machine<'_, T> {
    pub(super) fn reduce(
        &mut self,
        op: ReduceOp,
        (from, over): (Store, &Loop),
        axis: (usize, isize),
        t: usize,
        out: Store,
    ) {
        match (from, out) {
            (Store::Native(from), Store::Native(out)) => reduce(self.simd, self.native, op, (from, over, t), axis, out),
            (Store::Wide(from), Store::Wide(out)) => reduce(self.simd, self.wide, op, (from, over, t), axis, out),
            (Store::Native(_), Store::Wide(_)) | (Store::Wide(_), Store::Native(_)) => {}
        }
    }

    pub(super) fn cumsum(
        &mut self,
        (from, over): (Store, &Loop),
        axis: (usize, [isize; 2], bool),
        t: usize,
        out: Store,
    ) {
        match (from, out) {
            (Store::Native(from), Store::Native(out)) => cumsum(self.simd, self.native, (from, over, t), axis, out),
            (Store::Wide(from), Store::Wide(out)) => cumsum(self.simd, self.wide, (from, over, t), axis, out),
            (Store::Native(_), Store::Wide(_)) | (Store::Wide(_), Store::Native(_)) => {}
        }
    }

    pub(super) fn sum_rows(&mut self, from: Store, starts: &[usize], t: usize, out: Store) {
        let (Store::Native(from), Store::Native(out)) = (from, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        for (sum, start) in target.iter_mut().zip(starts) {
            *sum += kernels::sum(self.simd, &self.native[from][start * t..][..t]);
        }
        self.native[out] = target;
    }

    pub(super) fn dot_rows(&mut self, [a, b]: [Store; 2], starts: &[[usize; 2]], t: usize, out: Store) {
        let (Store::Native(a), Store::Native(b), Store::Native(out)) = (a, b, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        for (sum, [i, j]) in target.iter_mut().zip(starts) {
            let (a, b) = (&self.native[a][i * t..][..t], &self.native[b][j * t..][..t]);
            *sum += kernels::dot(self.simd, a, b);
        }
        self.native[out] = target;
    }
}

fn reduce<E: Element>(
    simd: Simd,
    buffers: &mut [Vec<E>],
    op: ReduceOp,
    (from, over, t): (usize, &Loop, usize),
    (count, step): (usize, isize),
    out: usize,
) {
    let mut target = std::mem::take(&mut buffers[out]);
    let values = &buffers[from];
    let lanes = if over.rows { t } else { 1 };
    let length = over.run * lanes;
    for [to, at, ..] in &over.starts {
        if over.run == 1 && !over.rows && step == 1 {
            target[*to] = kernels::reduce(simd, op, &values[*at..at + count]);
            continue;
        }
        let target = &mut target[to * lanes..][..length];
        target.copy_from_slice(&values[at * lanes..][..length]);
        for i in 1..count as isize {
            let start = at.wrapping_add_signed(i * step) * lanes;
            kernels::combine(simd, op, &values[start..][..length], target);
        }
    }
    buffers[out] = target;
}

fn cumsum<E: Element>(
    simd: Simd,
    buffers: &mut [Vec<E>],
    (from, over, t): (usize, &Loop, usize),
    (count, [step, out_step], reverse): (usize, [isize; 2], bool),
    out: usize,
) {
    let mut target = std::mem::take(&mut buffers[out]);
    let values = &buffers[from];
    let lanes = if over.rows { t } else { 1 };
    let length = over.run * lanes;
    for [_, at, to, _] in &over.starts {
        let mut before: Option<usize> = None;
        for position in 0..count as isize {
            let i = if reverse { count as isize - 1 - position } else { position };
            let start = to.wrapping_add_signed(i * out_step) * lanes;
            target[start..start + length]
                .copy_from_slice(&values[at.wrapping_add_signed(i * step) * lanes..][..length]);
            if let Some(before) = before {
                // The two runs do not overlap: they are different elements of the axis.
                let (low, high) = target.split_at_mut(before.max(start));
                let (sum, previous) = if start > before {
                    (&mut high[..length], &low[before..before + length])
                } else {
                    (&mut low[start..start + length], &high[..length])
                };
                kernels::combine(simd, ReduceOp::Sum, previous, sum);
            }
            before = Some(start);
        }
    }
    buffers[out] = target;
}
