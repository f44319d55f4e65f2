//! 128-bit hashes that identify data sets, models and settings.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// A 128-bit XXH3 hash. It is displayed as 32 hexadecimal digits.
///
/// It detects accidental differences. It is not a cryptographic hash: inputs with the same fingerprint can be
/// constructed.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::Fingerprint;
///
/// assert_eq!(Fingerprint::new(b"one").to_string().len(), 32);
/// assert_ne!(Fingerprint::new(b"one"), Fingerprint::new(b"two"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "[u64; 2]", from = "[u64; 2]")]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Creates the fingerprint of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
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

/// Computes the [`Fingerprint`] of a sequence of values.
#[derive(Clone)]
pub struct Fingerprinter(Box<Xxh3>);

impl Fingerprinter {
    /// Creates the hasher of an empty sequence.
    pub fn new() -> Self {
        Self(Box::default())
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds the length and the bytes of `text`. The length separates adjacent texts.
    pub fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Adds an integer.
    pub fn word(&mut self, word: u64) {
        self.bytes(&word.to_le_bytes());
    }

    /// Adds the number and the bits of `numbers`.
    pub fn numbers(&mut self, numbers: &[f64]) {
        self.word(numbers.len() as u64);
        numbers.iter().for_each(|number| self.word(number.to_bits()));
    }

    /// Returns the fingerprint of all values added so far.
    pub fn finish(&self) -> Fingerprint {
        Fingerprint(self.0.digest128())
    }
}

impl Default for Fingerprinter {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds formatted text without an intermediate string.
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

    fn fingerprint(numbers: &[f64]) -> Fingerprint {
        let mut hasher = Fingerprinter::new();
        hasher.numbers(numbers);
        hasher.finish()
    }

    #[test]
    fn parts_are_concatenated() {
        let mut hasher = Fingerprinter::new();
        hasher.bytes(b"one ");
        hasher.bytes(b"two");
        assert_eq!(hasher.finish(), Fingerprint::new(b"one two"));
    }

    /// A sign is the highest bit of a number. A hash without mixing cancels an even number of sign changes.
    #[test]
    fn changed_signs_change_the_fingerprint() {
        let numbers: Vec<f64> = (0..100).map(f64::from).collect();
        let negated: Vec<f64> = numbers.iter().map(|x| -x).collect();
        assert_ne!(fingerprint(&numbers), fingerprint(&negated));
    }

    #[test]
    fn vectors_of_labels_have_distinct_fingerprints() {
        let labels = |k: u32| -> Vec<f64> { (0..16).map(|bit| f64::from(k >> bit & 1)).collect() };
        let distinct: HashSet<Fingerprint> = (0..20_000).map(|k| fingerprint(&labels(k))).collect();
        assert_eq!(distinct.len(), 20_000);
    }

    #[test]
    fn fingerprints_survive_serialization() {
        let fingerprint = Fingerprint::new(b"sgmcmc");
        let json = serde_json::to_string(&fingerprint).unwrap();
        assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), fingerprint);
        assert_eq!(fingerprint.to_string().len(), 32);
    }
}
