//! Damage.

use rand::Rng;
use rand::RngExt;

/// Sizes that overflow, or are almost right.
const SIZES: [u64; 12] =
    [0, 1, 2, 255, 1 << 16, (1 << 31) - 1, 1 << 31, u32::MAX as u64, 1 << 40, 1 << 60, i64::MAX as u64, u64::MAX];

/// Returns `bytes` with one to four changes: bits, bytes, digits, lengths, pieces left out, repeated or taken from `other`.
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

fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut impl Rng) {
    if bytes.is_empty() {
        bytes.push(rng.random());
        return;
    }
    let place = rng.random_range(0..bytes.len());
    match rng.random_range(0..10) {
        0 => bytes[place] ^= 1 << rng.random_range(0..8),
        1 => bytes[place] = rng.random(),
        2 => bytes.truncate(place),
        3 => _ = bytes.drain(place..(place + rng.random_range(1..64)).min(bytes.len())),
        4 => {
            let piece = bytes[place..(place + rng.random_range(1..64)).min(bytes.len())].to_vec();
            bytes.splice(place..place, piece);
        }
        5 if !other.is_empty() => {
            let start = rng.random_range(0..other.len());
            let piece = &other[start..(start + rng.random_range(1..256)).min(other.len())];
            bytes.splice(place..place, piece.iter().copied());
        }
        6 | 7 => digits(bytes, rng),
        8 => {
            let size = SIZES[rng.random_range(0..SIZES.len())];
            let width = [1, 2, 4, 8][rng.random_range(0..4)];
            let mut word = size.to_le_bytes()[..width].to_vec();
            if rng.random_bool(0.5) {
                word.reverse();
            }
            let end = (place + width).min(bytes.len());
            bytes[place..end].copy_from_slice(&word[..end - place]);
        }
        _ => bytes.insert(place, rng.random()),
    }
}

/// Exchanges or lengthens a number in a text.
fn digits(bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    let places: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place].is_ascii_digit()).collect();
    let Some(place) = (!places.is_empty()).then(|| places[rng.random_range(0..places.len())]) else { return };
    match rng.random_range(0..3) {
        0 => bytes[place] = b'0' + rng.random_range(0..10),
        1 => _ = bytes.splice(place..place, std::iter::repeat_n(b'9', rng.random_range(1..15))),
        _ => {
            let size = SIZES[rng.random_range(0..SIZES.len())].to_string();
            bytes.splice(place..=place, size.into_bytes());
        }
    }
}
