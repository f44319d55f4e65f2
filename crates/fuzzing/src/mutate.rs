//! Random damage of files.

use rand::Rng;
use rand::RngExt;

/// Sizes that overflow or are off by one.
const SIZES: [u64; 12] =
    [0, 1, 2, 255, 1 << 16, (1 << 31) - 1, 1 << 31, u32::MAX as u64, 1 << 40, 1 << 60, i64::MAX as u64, u64::MAX];

/// Returns `bytes` with one to four changes: of bits, bytes, digits or lengths, or of ranges that are removed, repeated
/// or copied from `other`.
pub fn mutate(bytes: &[u8], other: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..rng.random_range(1..=4) {
        change(&mut changed, other, rng);
        if rng.random_bool(0.5) {
            break;
        }
    }
    changed
}

/// Makes one change.
fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut impl Rng) {
    if bytes.is_empty() {
        bytes.push(rng.random());
        return;
    }
    let offset = rng.random_range(0..bytes.len());
    match rng.random_range(0..10) {
        0 => bytes[offset] ^= 1 << rng.random_range(0..8),
        1 => bytes[offset] = rng.random(),
        2 => bytes.truncate(offset),
        3 => _ = bytes.drain(offset..(offset + rng.random_range(1..64)).min(bytes.len())),
        4 => {
            let range = bytes[offset..(offset + rng.random_range(1..64)).min(bytes.len())].to_vec();
            bytes.splice(offset..offset, range);
        }
        5 if !other.is_empty() => {
            let start = rng.random_range(0..other.len());
            let range = &other[start..(start + rng.random_range(1..256)).min(other.len())];
            bytes.splice(offset..offset, range.iter().copied());
        }
        6 | 7 => change_digits(bytes, rng),
        8 => {
            let size = SIZES[rng.random_range(0..SIZES.len())];
            let width = [1, 2, 4, 8][rng.random_range(0..4)];
            let mut word = size.to_le_bytes()[..width].to_vec();
            if rng.random_bool(0.5) {
                word.reverse();
            }
            let end = (offset + width).min(bytes.len());
            bytes[offset..end].copy_from_slice(&word[..end - offset]);
        }
        _ => bytes.insert(offset, rng.random()),
    }
}

/// Changes a digit of a number in a text, or lengthens the number.
fn change_digits(bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    let offsets: Vec<usize> = (0..bytes.len()).filter(|offset| bytes[*offset].is_ascii_digit()).collect();
    let Some(offset) = (!offsets.is_empty()).then(|| offsets[rng.random_range(0..offsets.len())]) else { return };
    match rng.random_range(0..3) {
        0 => bytes[offset] = b'0' + rng.random_range(0..10),
        1 => _ = bytes.splice(offset..offset, std::iter::repeat_n(b'9', rng.random_range(1..15))),
        _ => {
            let size = SIZES[rng.random_range(0..SIZES.len())].to_string();
            bytes.splice(offset..=offset, size.into_bytes());
        }
    }
}
