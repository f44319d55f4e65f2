//! The journal of a chain: a sequence of parts, each preceded by its length.

use std::io::Read;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Fingerprint, Result};

/// The length and the fingerprint of a journal. Part of every saved state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extent {
    /// The number of bytes.
    pub length: u64,
    fingerprint: Fingerprint,
}

/// The running length and fingerprint of a journal.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    length: u64,
    fingerprint: Fingerprinter,
}

impl Journal {
    /// Returns the length and the fingerprint.
    pub fn extent(&self) -> Extent {
        Extent { length: self.length, fingerprint: self.fingerprint.finish() }
    }

    /// Adds `parts` to the journal and returns the bytes to append to the file.
    pub fn frame(&mut self, parts: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        self.length += bytes.len() as u64;
        self.fingerprint.bytes(&bytes);
        bytes
    }

    /// Reads the journal of `extent` from `reader` and calls `take` with each part.
    ///
    /// # Errors
    ///
    /// Returns an error if `extent` is not that of the journal, and the errors of `take`.
    pub fn replay(mut reader: impl Read, extent: Extent, mut take: impl FnMut(Vec<u8>) -> Result<()>) -> Result<Self> {
        let mut journal = Self::default();
        while journal.length < extent.length {
            let mut head = [0; 8];
            reader.read_exact(&mut head).map_err(|error| damaged(&error.to_string()))?;
            let size = u64::from_le_bytes(head);
            let rest = (extent.length - journal.length).checked_sub(head.len() as u64);
            if rest.is_none_or(|rest| size > rest) {
                return Err(damaged("a part is longer than the journal"));
            }
            // The allocation grows with the bytes read, not with the size in the header.
            let mut part = Vec::new();
            let read =
                reader.by_ref().take(size).read_to_end(&mut part).map_err(|error| damaged(&error.to_string()))?;
            if read as u64 != size {
                return Err(damaged("its end is missing"));
            }
            journal.fingerprint.bytes(&head);
            journal.fingerprint.bytes(&part);
            journal.length += head.len() as u64 + size;
            take(part)?;
        }
        if journal.extent() == extent { Ok(journal) } else { Err(damaged("its checksum is wrong")) }
    }
}

/// Returns the error for a damaged journal.
fn damaged(reason: &str) -> Error {
    Error::Checkpoint { reason: format!("its journal is damaged: {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], extent: Extent) -> Result<Vec<Vec<u8>>> {
        let mut parts = Vec::new();
        Journal::replay(bytes, extent, |part| {
            parts.push(part);
            Ok(())
        })?;
        Ok(parts)
    }

    #[test]
    fn parts_are_replayed_and_changes_are_detected() {
        let mut journal = Journal::default();
        let mut bytes = journal.frame(&[b"first", b""]);
        bytes.extend(journal.frame(&[b"second"]));
        let extent = journal.extent();
        assert_eq!(read(&bytes, extent).unwrap(), [&b"first"[..], b"", b"second"]);
        // Bytes after the end belong to a run that was killed.
        assert_eq!(read(&[&bytes[..], b"more"].concat(), extent).unwrap().len(), 3);
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[position] ^= 1 << bit;
                assert!(read(&changed, extent).is_err(), "bit {bit} of byte {position}");
            }
            assert!(read(&bytes[..position], extent).is_err(), "cut at {position}");
        }
    }
}
