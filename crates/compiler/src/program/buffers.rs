//! Which values share memory.
//!
//! Within a tile a buffer is free for another value once its last reader is through. Shared values live as long as a call.

use std::collections::BTreeMap;

use super::instruction::Instruction;
use super::lower::Buffer;
use super::view::Store;

/// Lets the per-row values of a tile share buffers where they are never needed at the same time: stores get other numbers,
/// and buffers that nobody names any more have no features. `kept` are read after the tile's last instruction.
pub(crate) fn share(
    tile: &mut [Instruction],
    buffers: &mut [Buffer],
    class: fn(usize) -> Store,
    kept: &mut [&mut Store],
) {
    let number = |store: &Store| match (store, class(0)) {
        (Store::Native(number), Store::Native(_)) | (Store::Wide(number), Store::Wide(_)) => Some(*number),
        _ => None,
    };
    let mut last = vec![0; buffers.len()];
    for (position, instruction) in tile.iter().enumerate() {
        for number in instruction.reads().iter().chain(&instruction.writes()).filter_map(number) {
            last[number] = position;
        }
    }
    for number in kept.iter().filter_map(|store| number(store)) {
        last[number] = usize::MAX;
    }
    let mut places: Vec<Option<usize>> = vec![None; buffers.len()];
    let mut free = Free::new();
    // The last instruction after which each place became free, so that it does so once.
    let mut freed = vec![usize::MAX; buffers.len()];
    for (position, instruction) in tile.iter_mut().enumerate() {
        let mut ended = Vec::new();
        for store in instruction.stores_mut() {
            let Some(old) = number(store).filter(|number| buffers[*number].rows) else { continue };
            let place = places[old].unwrap_or_else(|| take(buffers, &mut free, old));
            places[old] = Some(place);
            if last[old] == position && std::mem::replace(&mut freed[place], position) != position {
                ended.push(place);
            }
            *store = class(place);
        }
        ended.into_iter().for_each(|place| free.entry(buffers[place].features).or_default().push(place));
    }
    for store in kept.iter_mut() {
        if let Some(place) = number(store).and_then(|old| places[old]) {
            **store = class(place);
        }
    }
}

/// The free buffers by the number of their features.
type Free = BTreeMap<usize, Vec<usize>>;

/// The free buffer that fits best, or the value's own.
fn take(buffers: &mut [Buffer], free: &mut Free, own: usize) -> usize {
    let wanted = buffers[own].features;
    let larger = free.range(wanted..).next().map(|(features, _)| *features);
    let smaller = free.range(..wanted).next_back().map(|(features, _)| *features);
    let best = larger.into_iter().chain(smaller).min_by_key(|features| features.abs_diff(wanted));
    let Some((features, places)) = best.and_then(|features| Some((features, free.get_mut(&features)?))) else {
        return own;
    };
    let place = places.pop().unwrap_or(own);
    if places.is_empty() {
        free.remove(&features);
    }
    if place == own {
        return own;
    }
    buffers[place].features = buffers[place].features.max(wanted);
    buffers[own].features = 0;
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::instruction::{Function, Source};
    use crate::program::view::Loop;

    #[test]
    fn a_chain_needs_two_buffers() {
        let copy = |from: usize, out: usize| Instruction::Map {
            function: Function::Copy,
            operands: vec![Source::Store(Store::Native(from))],
            over: Loop { rows: true, run: 1, starts: vec![[0; 4]], splat: vec![false] },
            out: Store::Native(out),
        };
        let load = Instruction::LoadWeights { out: Store::Native(0) };
        let mut tile = vec![load, copy(0, 1), copy(1, 2), copy(2, 3), copy(3, 4)];
        let mut buffers = vec![Buffer { features: 1, rows: true }; 5];
        let mut result = Store::Native(4);
        share(&mut tile, &mut buffers, Store::Native, &mut [&mut result]);
        assert_eq!(buffers.iter().filter(|buffer| buffer.features > 0).count(), 2);
        assert_eq!(vec![result], tile[4].writes());
        // What is read is never what is written.
        assert!(tile.iter().all(|instruction| !instruction.reads().contains(&instruction.writes()[0])));
    }
}
