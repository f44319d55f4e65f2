//! A fast hash function for the tables of a compilation. The keys are not under the control of an attacker.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A hash map with the fast hash function.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;
/// A hash set with the fast hash function.
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<FastHasher>>;

/// A multiplicative hasher: each word is combined with the state by rotation and exclusive or, and multiplied by an odd
/// constant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FastHasher(u64);

impl FastHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for FastHasher {
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
        // The hash tables use the lowest bits, which a multiplication mixes least.
        self.0 ^ (self.0 >> 32)
    }
}

/// Returns the hash of a value.
pub(crate) fn hash_one(value: &impl Hash) -> u64 {
    let mut hasher = FastHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
