//! Buffer sharing between values.
//!
//! Within a tile, a buffer can be reused after its last reader. Shared values live as long as a call.

use std::collections::BTreeMap;

use super::instruction::Instruction;
use super::lower::Buffer;
use super::view::BufferId;

/// Lets the per-row values of a tile share buffers if their lifetimes do not overlap. Buffers are renumbered, and
/// unused buffers get zero features. The buffers `kept` are read after the last instruction of the tile.
pub(crate) fn share(
    tile: &mut [Instruction],
    buffers: &mut [Buffer],
    class: fn(usize) -> BufferId,
    kept: &mut [&mut BufferId],
) {
    let number = |buffer: &BufferId| match (buffer, class(0)) {
        (BufferId::Native(number), BufferId::Native(_)) | (BufferId::Wide(number), BufferId::Wide(_)) => Some(*number),
        _ => None,
    };
    let mut last = vec![0; buffers.len()];
    for (position, instruction) in tile.iter().enumerate() {
        for number in instruction.reads().iter().chain(&instruction.writes()).filter_map(number) {
            last[number] = position;
        }
    }
    for number in kept.iter().filter_map(|buffer| number(buffer)) {
        last[number] = usize::MAX;
    }
    let mut assigned: Vec<Option<usize>> = vec![None; buffers.len()];
    let mut free = Free::new();
    // The last instruction after which each buffer was released, so that it is released once per instruction.
    let mut freed = vec![usize::MAX; buffers.len()];
    for (position, instruction) in tile.iter_mut().enumerate() {
        let mut ended = Vec::new();
        for buffer in instruction.buffers_mut() {
            let Some(old) = number(buffer).filter(|number| buffers[*number].rows) else { continue };
            let slot = assigned[old].unwrap_or_else(|| take(buffers, &mut free, old));
            assigned[old] = Some(slot);
            if last[old] == position && std::mem::replace(&mut freed[slot], position) != position {
                ended.push(slot);
            }
            *buffer = class(slot);
        }
        ended.into_iter().for_each(|slot| free.entry(buffers[slot].features).or_default().push(slot));
    }
    for buffer in kept.iter_mut() {
        if let Some(slot) = number(buffer).and_then(|old| assigned[old]) {
            **buffer = class(slot);
        }
    }
}

/// The free buffers by their number of features.
type Free = BTreeMap<usize, Vec<usize>>;

/// Returns the free buffer with the closest size, or the buffer of the value itself.
fn take(buffers: &mut [Buffer], free: &mut Free, own: usize) -> usize {
    let required = buffers[own].features;
    let larger = free.range(required..).next().map(|(features, _)| *features);
    let smaller = free.range(..required).next_back().map(|(features, _)| *features);
    let best = larger.into_iter().chain(smaller).min_by_key(|features| features.abs_diff(required));
    let Some((features, assigned)) = best.and_then(|features| Some((features, free.get_mut(&features)?))) else {
        return own;
    };
    let slot = assigned.pop().unwrap_or(own);
    if assigned.is_empty() {
        free.remove(&features);
    }
    if slot == own {
        return own;
    }
    buffers[slot].features = buffers[slot].features.max(required);
    buffers[own].features = 0;
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::instruction::{Function, Source};
    use crate::program::view::LoopPlan;

    #[test]
    fn chain_needs_two_buffers() {
        let copy = |from: usize, out: usize| Instruction::Map {
            function: Function::Copy,
            operands: vec![Source::Buffer(BufferId::Native(from))],
            over: LoopPlan { rows: true, run: 1, starts: vec![[0; 4]], splat: vec![false] },
            out: BufferId::Native(out),
        };
        let load = Instruction::LoadWeights { out: BufferId::Native(0) };
        let mut tile = vec![load, copy(0, 1), copy(1, 2), copy(2, 3), copy(3, 4)];
        let mut buffers = vec![Buffer { features: 1, rows: true }; 5];
        let mut result = BufferId::Native(4);
        share(&mut tile, &mut buffers, BufferId::Native, &mut [&mut result]);
        assert_eq!(buffers.iter().filter(|buffer| buffer.features > 0).count(), 2);
        assert_eq!(vec![result], tile[4].writes());
        // No instruction writes a buffer that it reads.
        assert!(tile.iter().all(|instruction| !instruction.reads().contains(&instruction.writes()[0])));
    }
}
