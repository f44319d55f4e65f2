//! Element-wise functions, block after block.

use super::{Machine, Real};
use crate::kernels::{LANES, run_steps};
use crate::program::fuse::Fused;
use crate::program::view::Store;

impl<T: Real> Machine<'_, T> {
    pub(super) fn fused(&mut self, fused: &Fused, t: usize) {
        let Store::Native(scratch) = fused.scratch else { return };
        let mut room = std::mem::take(&mut self.native[scratch]);
        let blocks = room.as_chunks_mut::<LANES>().0;
        for (block, number) in blocks.iter_mut().zip(&fused.numbers) {
            *block = [T::from_f64(number.0); LANES];
        }
        let length = fused.run * t;
        for run in 0..fused.runs {
            for place in &fused.shared {
                blocks[place.block] = [self.buffer(place.store)[place.starts[run]]; LANES];
            }
            let mut first = 0;
            while first < length {
                // The last block goes back over the one before rather than past the end: what is read is not written here.
                first = first.min(length.saturating_sub(LANES));
                for place in &fused.inputs {
                    let from = &self.buffer(place.store)[place.starts[run] * t + first..];
                    let block = &mut blocks[place.block];
                    match from.first_chunk() {
                        Some(whole) => *block = *whole,
                        None => block[..from.len()].copy_from_slice(from),
                    }
                }
                run_steps(self.simd, &fused.steps, blocks);
                for place in &fused.outputs {
                    let Store::Native(out) = place.store else { continue };
                    let to = &mut self.native[out][place.starts[run] * t + first..];
                    match to.first_chunk_mut() {
                        Some(whole) if length >= LANES => *whole = blocks[place.block],
                        _ => to[..length].copy_from_slice(&blocks[place.block][..length]),
                    }
                }
                first += LANES;
            }
        }
        self.native[scratch] = room;
    }
}
