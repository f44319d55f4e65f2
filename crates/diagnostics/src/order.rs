//! Sorting of draws, by a radix sort on integer keys.
//!
//! The bits of a float, with the sign bit flipped for positive numbers and all bits flipped for negative ones, are an
//! unsigned integer with the same order (−∞ first, −0 before 0, and NaN last or first by its sign). The upper 32 bits
//! of the key and the index form one word. Three passes over 11, 11 and 10 bits sort n words in O(n), several times
//! faster than a comparison sort for chains of the usual length. Draws that agree in the upper 32 bits, and short
//! lists, are sorted by comparison.

use std::cell::RefCell;

/// The lowest bit of the digit of each pass, and after the last pass.
const DIGITS: [u32; 4] = [32, 43, 54, 64];
/// The number of buckets of the longest digit.
const BUCKETS: usize = 1 << 11;
/// Below this length a comparison sort is faster.
const SHORT: usize = 4096;

/// Returns `values` and their indices in ascending order. Equal values keep their order.
pub(crate) fn order(values: &[f64]) -> Vec<(f64, u32)> {
    let full = |index: u32| key(values[index as usize]);
    if values.len() < SHORT {
        let mut indices: Vec<u32> = (0..values.len() as u32).collect();
        indices.sort_unstable_by_key(|index| (full(*index), *index));
        return indices.into_iter().map(|index| (values[index as usize], index)).collect();
    }
    let [mut words, mut other] = BUFFERS.take();
    words.clear();
    words.extend(values.iter().zip(0_u32..).map(|(value, index)| key(*value) >> 32 << 32 | u64::from(index)));
    other.resize(values.len(), 0);
    radix(&mut words, &mut other);
    let ties = words.chunk_by_mut(|one, next| one >> 32 == next >> 32).filter(|run| run.len() > 1);
    ties.for_each(|run| run.sort_unstable_by_key(|word| (full(*word as u32), *word as u32)));
    let ordered = words.iter().map(|word| (values[*word as u32 as usize], *word as u32)).collect();
    BUFFERS.set([words, other]);
    ordered
}

/// Returns the integer key of a float.
fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

thread_local! {
    /// Buffers for the words. They are reused, because a fresh allocation would cost as much as one pass.
    static BUFFERS: RefCell<[Vec<u64>; 2]> = const { RefCell::new([Vec::new(), Vec::new()]) };
}

/// Sorts `words` by their upper 32 bits with a stable sort. `other` is a buffer of the same length.
fn radix(words: &mut Vec<u64>, other: &mut Vec<u64>) {
    let digit =
        |word: u64, pass: usize| (word >> DIGITS[pass]) as usize & ((1 << (DIGITS[pass + 1] - DIGITS[pass])) - 1);
    let mut offsets = [[0_u32; BUCKETS]; 3];
    for word in words.iter() {
        (0..3).for_each(|pass| offsets[pass][digit(*word, pass)] += 1);
    }
    for (pass, offsets) in offsets.iter_mut().enumerate() {
        let mut before = 0;
        for offset in offsets.iter_mut() {
            before += std::mem::replace(offset, before);
        }
        for word in words.iter() {
            let offset = &mut offsets[digit(*word, pass)];
            other[*offset as usize] = *word;
            *offset += 1;
        }
        std::mem::swap(words, other);
    }
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
