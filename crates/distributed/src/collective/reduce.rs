//! Operations of all ranks, as exchanges between two ranks with a fixed order of the sums.

use super::{Collective, Error, Incoming, Outgoing, Result, send_receive};

/// The number of numbers above which a sum is computed in parts, one part per rank. Both ways add in the same order.
const LARGE: usize = 2048;

/// Adds `values` over all ranks.
///
/// With P' the largest power of two up to P, the ranks P' and above send their values to the rank P' below them. Then
/// pairs of ranks at the distances P'/2, P'/4, …, 1 add their values. The sum of two numbers does not depend on their
/// order, so that all ranks have the same bits. Large vectors are halved before each exchange, so that every element is
/// added by one rank only, with the same pairs, and are put together again in the reverse order.
pub(super) fn all_reduce_sum<C: Collective + ?Sized>(
    ranks: &C,
    values: &mut [f64],
    buffer: &mut Vec<f64>,
) -> Result<()> {
    let (rank, size) = (ranks.rank(), ranks.size());
    if size == 1 {
        return Ok(());
    }
    buffer.resize(values.len(), 0.0);
    let power = 1 << size.ilog2();
    if rank >= power {
        let partner = rank - power;
        let bytes = bytemuck::cast_slice(values);
        ranks.exchange(&[Outgoing { to: partner, bytes }], &mut [], &mut || ())?;
        let place = [Incoming { from: partner, bytes: bytemuck::cast_slice_mut(values) }];
        return ranks.exchange(&[], &mut { place }, &mut || ());
    }
    if rank + power < size {
        let place = [Incoming { from: rank + power, bytes: bytemuck::cast_slice_mut(buffer) }];
        ranks.exchange(&[], &mut { place }, &mut || ())?;
        add(values, buffer);
    }
    if values.len() >= LARGE.max(2 * power) {
        add_in_parts(ranks, power, values, buffer)?;
    } else {
        for distance in distances(power) {
            let (partner, sent) = (rank ^ distance, bytemuck::cast_slice(values));
            send_receive(ranks, partner, sent, partner, bytemuck::cast_slice_mut(buffer))?;
            add(values, buffer);
        }
    }
    if rank + power < size {
        let bytes = bytemuck::cast_slice(values);
        ranks.exchange(&[Outgoing { to: rank + power, bytes }], &mut [], &mut || ())?;
    }
    Ok(())
}

/// Adds large vectors of the first `power` ranks: each exchange halves the part of the vector that a rank adds.
fn add_in_parts<C: Collective + ?Sized>(ranks: &C, power: usize, values: &mut [f64], buffer: &mut [f64]) -> Result<()> {
    let rank = ranks.rank();
    let (mut low, mut high) = (0, values.len());
    // The parts before each exchange, to put them together in the reverse order.
    let mut whole = [(0, 0); usize::BITS as usize];
    for (level, distance) in distances(power).enumerate() {
        whole[level] = (low, high);
        let middle = low + (high - low) / 2;
        let (kept, sent) = if rank & distance == 0 { (low..middle, middle..high) } else { (middle..high, low..middle) };
        let partner = rank ^ distance;
        let place = &mut buffer[kept.clone()];
        send_receive(ranks, partner, bytemuck::cast_slice(&values[sent]), partner, bytemuck::cast_slice_mut(place))?;
        add(&mut values[kept.clone()], place);
        (low, high) = (kept.start, kept.end);
    }
    for (level, distance) in distances(power).enumerate().collect::<Vec<_>>().into_iter().rev() {
        let (start, end) = whole[level];
        let (left, right) = values[start..end].split_at_mut((end - start) / 2);
        let (own, other) = if rank & distance == 0 { (left, right) } else { (right, left) };
        let partner = rank ^ distance;
        send_receive(ranks, partner, bytemuck::cast_slice(own), partner, bytemuck::cast_slice_mut(other))?;
    }
    Ok(())
}

/// Returns power/2, power/4, …, 1.
fn distances(power: usize) -> impl Iterator<Item = usize> {
    (0..power.ilog2()).rev().map(|bit| 1 << bit)
}

/// Adds `more` to `values`.
fn add(values: &mut [f64], more: &[f64]) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
}

/// Sends `bytes` from `root` to all ranks: in round k, the ranks that have them send them 2ᵏ ranks further.
pub(super) fn broadcast<C: Collective + ?Sized>(ranks: &C, root: usize, bytes: &mut [u8]) -> Result<()> {
    let size = ranks.size();
    check_root(root, size)?;
    let relative = (ranks.rank() + size - root) % size;
    let rank_at = |relative: usize| (relative + root) % size;
    let mut distance = 1;
    while distance < size {
        if relative < distance {
            if relative + distance < size {
                let outgoing = [Outgoing { to: rank_at(relative + distance), bytes }];
                ranks.exchange(&outgoing, &mut [], &mut || ())?;
            }
        } else if relative < 2 * distance {
            let from = rank_at(relative - distance);
            ranks.exchange(&[], &mut [Incoming { from, bytes: &mut *bytes }], &mut || ())?;
        }
        distance *= 2;
    }
    Ok(())
}

/// Sends the bytes of all ranks to `root`.
pub(super) fn gather<C: Collective + ?Sized>(ranks: &C, root: usize, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    let (rank, size) = (ranks.rank(), ranks.size());
    check_root(root, size)?;
    // Lengths below 2⁵³ are exact.
    let mut lengths = vec![0.0; size];
    lengths[rank] = bytes.len() as f64;
    ranks.all_reduce_sum(&mut lengths)?;
    if rank != root {
        ranks.exchange(&[Outgoing { to: root, bytes }], &mut [], &mut || ())?;
        return Ok(None);
    }
    let mut all: Vec<Vec<u8>> = lengths.iter().map(|length| vec![0; *length as usize]).collect();
    let others = all.iter_mut().enumerate().filter(|(from, _)| *from != rank);
    let mut places: Vec<_> = others.map(|(from, bytes)| Incoming { from, bytes }).collect();
    ranks.exchange(&[], &mut places, &mut || ())?;
    all[rank].copy_from_slice(bytes);
    Ok(Some(all))
}

/// Sends the bytes of all ranks to all ranks.
pub(super) fn all_gather<C: Collective + ?Sized>(ranks: &C, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let (rank, size) = (ranks.rank(), ranks.size());
    let mut lengths = vec![0.0; size];
    lengths[rank] = bytes.len() as f64;
    ranks.all_reduce_sum(&mut lengths)?;
    let mut all: Vec<Vec<u8>> = lengths.iter().map(|length| vec![0; *length as usize]).collect();
    all[rank].copy_from_slice(bytes);
    for (root, bytes) in all.iter_mut().enumerate() {
        ranks.broadcast(root, bytes)?;
    }
    Ok(all)
}

/// Checks that `root` is a rank.
fn check_root(root: usize, size: usize) -> Result<()> {
    if root < size {
        return Ok(());
    }
    Err(Error::Setting { name: "the root of an operation", value: root.to_string(), expected: "it is a rank" })
}
