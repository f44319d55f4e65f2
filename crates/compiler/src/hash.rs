//! A fast hash function for the tables of a compilation, whose keys nobody chooses to collide.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map with the fast hash function.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Multiplied>>;
/// A set with the fast hash function.
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<Multiplied>>;

/// Adds each word and multiplies by an odd number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Multiplied(u64);

impl Multiplied {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Multiplied {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.add(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.add(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    fn finish(&self) -> u64 {
        // The tables look at the lowest bits, which a multiplication leaves the poorest.
        self.0 ^ (self.0 >> 32)
    }
}

/// The hash of a value.
pub(crate) fn of(value: &impl Hash) -> u64 {
    let mut hasher = Multiplied::default();
    value.hash(&mut hasher);
    hasher.finish()
}
