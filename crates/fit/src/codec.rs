//! The binary encoding of states and draws in checkpoints: CBOR.

use serde::{Serialize, de::DeserializeOwned};
use sgmcmc_gradient::{Error, Result};

/// Encodes a value.
///
/// # Errors
///
/// Returns [`Error::Checkpoint`] if the value cannot be serialized.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).map_err(|error| Error::Checkpoint { reason: error.to_string() })?;
    Ok(bytes)
}

/// Decodes a value that [`encode`] encoded.
///
/// # Errors
///
/// Returns [`Error::Checkpoint`] if the bytes are not the encoding of a value of this type.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    ciborium::from_reader(bytes).map_err(|error| Error::Checkpoint { reason: error.to_string() })
}
