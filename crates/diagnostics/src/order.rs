//! The order of draws, by a radix sort on keys that sort as the numbers do.
//!
//! A float's bits, with the sign bit flipped for positive numbers and all bits flipped for negative ones, are an unsigned integer that
//! sorts as the float (−∞ first, then −0 before 0, NaN last or first by its sign). Three passes over 11 bits put `n` draws in order by
//! their first 33 bits in O(n), several times faster than a comparison sort at the lengths chains have; the few that agree in so many, and short
//! lists, are sorted by comparison.

use std::cell::RefCell;

/// Bits taken in one pass.
const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;
/// The last bits, which no pass looks at.
const LAST: u32 = 31;
/// Below this length a comparison sort is faster.
const SHORT: usize = 4096;

/// `values` and their indices from the smallest value to the largest; equal values in the order they stand.
pub(crate) fn order(values: &[f64]) -> Vec<(f64, u32)> {
    let mut pairs: Vec<(u64, u32)> = values.iter().zip(0..).map(|(value, index)| (key(*value), index)).collect();
    if pairs.len() < SHORT {
        pairs.sort_unstable();
    } else {
        radix(&mut pairs);
    }
    pairs.into_iter().map(|(key, index)| (value(key), index)).collect()
}

fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

thread_local! {
    /// Room for a pass, kept for the next list: fresh memory would cost as much as a pass.
    static OTHER: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

fn radix(pairs: &mut Vec<(u64, u32)>) {
    let mut other = OTHER.take();
    other.resize(pairs.len(), (0, 0));
    for shift in (LAST..u64::BITS).step_by(DIGIT as usize) {
        let digit = |key: u64| (key >> shift) as usize & (BUCKETS - 1);
        let mut places = [0_u32; BUCKETS];
        pairs.iter().for_each(|(key, _)| places[digit(*key)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for (key, index) in pairs.iter() {
            let place = &mut places[digit(*key)];
            other[*place as usize] = (*key, *index);
            *place += 1;
        }
        std::mem::swap(pairs, &mut other);
    }
    let alike = pairs.chunk_by_mut(|(one, _), (next, _)| one >> LAST == next >> LAST);
    alike.filter(|run| run.len() > 1).for_each(<[_]>::sort_unstable);
    OTHER.set(other);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sorts_agree_with_the_total_order() {
        let mut state = 7_u64;
        let mut values: Vec<f64> = (0..6000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 40) as f64 - 8e6) * 1e-3
            })
            .collect();
        values.extend([0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1e300, -1e300, 3.0, 3.0]);
        // These differ in their last bits only.
        values.extend((0..100_u8).rev().map(|k| 1.0 + 1e-13 * f64::from(k)));
        for part in [&values[..], &values[5000..]] {
            let mut expected: Vec<u32> = (0..part.len() as u32).collect();
            expected.sort_by(|a, b| part[*a as usize].total_cmp(&part[*b as usize]));
            let found = order(part);
            assert_eq!(found.iter().map(|(_, index)| *index).collect::<Vec<_>>(), expected);
            assert!(found.iter().all(|(value, index)| value.to_bits() == part[*index as usize].to_bits()));
        }
    }
}
