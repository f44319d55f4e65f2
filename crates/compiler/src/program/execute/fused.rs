//! Execution of fused element-wise functions, block by block.

use super::{Executor, Real};
use crate::kernels::{LANES, run_steps};
use crate::program::fuse::Fused;
use crate::program::view::BufferId;

impl<T: Real> Executor<'_, T> {
    pub(super) fn fused(&mut self, fused: &Fused, t: usize) {
        let BufferId::Native(scratch) = fused.scratch else { return };
        let mut memory = std::mem::take(&mut self.native[scratch]);
        let blocks = memory.as_chunks_mut::<LANES>().0;
        for (block, number) in blocks.iter_mut().zip(&fused.numbers) {
            *block = [T::from_f64(number.0); LANES];
        }
        let length = fused.run * t;
        for run in 0..fused.runs {
            for block_buffer in &fused.shared {
                blocks[block_buffer.block] = [self.buffer(block_buffer.buffer)[block_buffer.starts[run]]; LANES];
            }
            let mut first = 0;
            while first < length {
                // The last block overlaps the previous one instead of exceeding the end. This is safe, because no input
                // is an output.
                first = first.min(length.saturating_sub(LANES));
                for block_buffer in &fused.inputs {
                    let from = &self.buffer(block_buffer.buffer)[block_buffer.starts[run] * t + first..];
                    let block = &mut blocks[block_buffer.block];
                    match from.first_chunk() {
                        Some(whole) => *block = *whole,
                        None => block[..from.len()].copy_from_slice(from),
                    }
                }
                run_steps(self.simd, &fused.steps, blocks);
                for block_buffer in &fused.outputs {
                    let BufferId::Native(out) = block_buffer.buffer else { continue };
                    let to = &mut self.native[out][block_buffer.starts[run] * t + first..];
                    match to.first_chunk_mut() {
                        Some(whole) if length >= LANES => *whole = blocks[block_buffer.block],
                        _ => to[..length].copy_from_slice(&blocks[block_buffer.block][..length]),
                    }
                }
                first += LANES;
            }
        }
        self.native[scratch] = memory;
    }
}
