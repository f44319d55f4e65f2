//! Execution of reductions.

use super::{Executor, Real};
use crate::graph::ReduceOp;
use crate::kernels::{self, Element, Simd};
use crate::program::view::{BufferId, TileLoop};

/// The axis of a reduction: `count` runs with a stride of `step` features.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReducedAxis {
    pub(super) count: usize,
    pub(super) step: isize,
}

/// The axis of a cumulative sum: `count` runs with strides of `steps` features in the input and in the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScannedAxis {
    pub(super) count: usize,
    pub(super) steps: [isize; 2],
    /// True if the sums start at the end of the axis.
    pub(super) reverse: bool,
}

impl<T: Real> Executor<'_, T> {
    pub(super) fn reduce(
        &mut self,
        op: ReduceOp,
        from: BufferId,
        axis: ReducedAxis,
        over: TileLoop<'_>,
        out: BufferId,
    ) {
        match (from, out) {
            (BufferId::Native(from), BufferId::Native(out)) => {
                reduce(self.simd, self.native, op, from, axis, over, out)
            }
            (BufferId::Wide(from), BufferId::Wide(out)) => reduce(self.simd, self.wide, op, from, axis, over, out),
            (BufferId::Native(_), BufferId::Wide(_)) | (BufferId::Wide(_), BufferId::Native(_)) => {}
        }
    }

    pub(super) fn cumsum(&mut self, from: BufferId, axis: ScannedAxis, over: TileLoop<'_>, out: BufferId) {
        match (from, out) {
            (BufferId::Native(from), BufferId::Native(out)) => cumsum(self.simd, self.native, from, axis, over, out),
            (BufferId::Wide(from), BufferId::Wide(out)) => cumsum(self.simd, self.wide, from, axis, over, out),
            (BufferId::Native(_), BufferId::Wide(_)) | (BufferId::Wide(_), BufferId::Native(_)) => {}
        }
    }

    pub(super) fn sum_rows(&mut self, from: BufferId, starts: &[usize], t: usize, out: BufferId) {
        let (BufferId::Native(from), BufferId::Native(out)) = (from, out) else { return };
        let mut target = std::mem::take(&mut self.native[out]);
        for (sum, start) in target.iter_mut().zip(starts) {
            *sum += kernels::sum(self.simd, &self.native[from][start * t..][..t]);
        }
        self.native[out] = target;
    }

    pub(super) fn dot_rows(&mut self, [a, b]: [BufferId; 2], starts: &[[usize; 2]], t: usize, out: BufferId) {
        let (BufferId::Native(a), BufferId::Native(b), BufferId::Native(out)) = (a, b, out) else { return };
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
    from: usize,
    ReducedAxis { count, step }: ReducedAxis,
    over: TileLoop<'_>,
    out: usize,
) {
    let mut target = std::mem::take(&mut buffers[out]);
    let values = &buffers[from];
    let (over, lanes) = (over.plan, over.lanes());
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
    from: usize,
    ScannedAxis { count, steps: [step, out_step], reverse }: ScannedAxis,
    over: TileLoop<'_>,
    out: usize,
) {
    let mut target = std::mem::take(&mut buffers[out]);
    let values = &buffers[from];
    let (over, lanes) = (over.plan, over.lanes());
    let length = over.run * lanes;
    for [_, at, to, _] in &over.starts {
        let mut before: Option<usize> = None;
        for position in 0..count as isize {
            let i = if reverse { count as isize - 1 - position } else { position };
            let start = to.wrapping_add_signed(i * out_step) * lanes;
            target[start..start + length]
                .copy_from_slice(&values[at.wrapping_add_signed(i * step) * lanes..][..length]);
            if let Some(before) = before {
                // The two runs do not overlap, because they are different elements of the axis.
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
