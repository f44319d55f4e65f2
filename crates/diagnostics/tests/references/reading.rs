//! Reading the reference files.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// A number, or one of the words `nan`, `inf`, `-inf`.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Word(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Self(number)),
            Written::Word(word) => word.parse().map(Self).map_err(serde::de::Error::custom),
        }
    }
}

/// Reads a reference file.
pub fn file<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/tests/references/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns whether `found` equals `expected` up to a relative tolerance. NaN and infinite values must be equal.
pub fn agrees(found: f64, expected: f64, tolerance: f64) -> bool {
    let same = found.is_nan() && expected.is_nan() || found.to_bits() == expected.to_bits();
    same || (found - expected).abs() <= tolerance * expected.abs()
}

/// Fails if `found` is not `expected`.
pub fn check(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(agrees(found, expected, tolerance), "{what}: {found}, expected {expected}");
}
