//! Fingerprints: 128-bit hashes that tell data sets, models and settings apart.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// A 128-bit XXH3 hash. Shown as 32 hexadecimal digits.
///
/// It detects accidental differences. It is not a cryptographic hash: two inputs with the same fingerprint can be constructed on
/// purpose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "[u64; 2]", from = "[u64; 2]")]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Returns the fingerprint of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(bytes))
    }

    /// Returns the fingerprint as 16 bytes, the least significant first.
    pub fn to_le_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }
}

impl From<Fingerprint> for [u64; 2] {
    fn from(fingerprint: Fingerprint) -> Self {
        [(fingerprint.0 >> 64) as u64, fingerprint.0 as u64]
    }
}

impl From<[u64; 2]> for Fingerprint {
    fn from([high, low]: [u64; 2]) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes the [`Fingerprint`] of a sequence of parts.
///
/// ```
/// use sgmcmc_core::fingerprint::{Fingerprint, Fingerprinter};
///
/// let mut parts = Fingerprinter::new();
/// parts.bytes(b"one ");
/// parts.bytes(b"two");
/// assert_eq!(parts.finish(), Fingerprint::of(b"one two"));
/// ```
#[derive(Clone)]
pub struct Fingerprinter(Box<Xxh3>);

impl Fingerprinter {
    /// Starts with no part.
    pub fn new() -> Self {
        Self(Box::default())
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds text. Its length is added too, so that neighboring texts cannot be confused.
    pub fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Adds an integer.
    pub fn word(&mut self, word: u64) {
        self.bytes(&word.to_le_bytes());
    }

    /// Adds the bits of numbers, after their count.
    pub fn numbers(&mut self, numbers: &[f64]) {
        self.word(numbers.len() as u64);
        numbers.iter().for_each(|number| self.word(number.to_bits()));
    }

    /// Returns the fingerprint of the parts so far.
    pub fn finish(&self) -> Fingerprint {
        Fingerprint(self.0.digest128())
    }
}

impl Default for Fingerprinter {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds formatted text piece by piece, without a string of all of it.
impl fmt::Write for Fingerprinter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

impl fmt::Debug for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprinter({})", self.finish())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn of(numbers: &[f64]) -> Fingerprint {
        let mut parts = Fingerprinter::new();
        parts.numbers(numbers);
        parts.finish()
    }

    /// Signs are the highest bits: a hash that does not mix loses an even number of them.
    #[test]
    fn changed_signs_change_the_fingerprint() {
        let numbers: Vec<f64> = (0..100).map(f64::from).collect();
        let negated: Vec<f64> = numbers.iter().map(|x| -x).collect();
        assert_ne!(of(&numbers), of(&negated));
    }

    #[test]
    fn vectors_of_labels_have_distinct_fingerprints() {
        let labels = |k: u32| -> Vec<f64> { (0..16).map(|bit| f64::from(k >> bit & 1)).collect() };
        let distinct: HashSet<Fingerprint> = (0..20_000).map(|k| of(&labels(k))).collect();
        assert_eq!(distinct.len(), 20_000);
    }

    #[test]
    fn fingerprints_survive_serialization() {
        let fingerprint = Fingerprint::of(b"sgmcmc");
        let json = serde_json::to_string(&fingerprint).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), fingerprint);
        assert_eq!(fingerprint.to_string().len(), 32);
    }
}
