//! Repair of checksums and compression after damage, so that the damage reaches the code after these checks.

use std::io::Read;

use sgmcmc_fit::checkpoint::sealed::seal;

use crate::corpus::gzip;

/// The encoding around the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    None,
    Gzip,
    /// Records with checksums, see the native format.
    Native,
    /// A header with a checksum, see mapped files.
    Mapped,
    /// The state of a checkpoint, with a fingerprint at its end.
    Checkpoint,
}

/// The first bytes of the state of a checkpoint.
const CHECKPOINT: &[u8] = b"sgmcmc checkpoint 2\n";

impl Wrapping {
    /// Detects the encoding by the first bytes.
    pub(crate) fn detect(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            _ if bytes.starts_with(b"\x89sgmcmc\n") => Self::Native,
            _ if bytes.starts_with(b"\x89SGMCMC\n") => Self::Mapped,
            _ if bytes.starts_with(CHECKPOINT) => Self::Checkpoint,
            _ => Self::None,
        }
    }

    /// Returns the content to damage.
    pub(crate) fn decode(self, bytes: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        match self {
            Self::Gzip if flate2::read::GzDecoder::new(bytes).read_to_end(&mut content).is_ok() => content,
            _ => bytes.to_vec(),
        }
    }

    /// Encodes the damaged content, with valid checksums.
    pub(crate) fn encode(self, mut content: Vec<u8>) -> Vec<u8> {
        match self {
            Self::None => content,
            Self::Gzip => gzip(&content).unwrap_or(content),
            Self::Native => {
                repair_records(&mut content);
                content
            }
            Self::Mapped => {
                repair_header(&mut content);
                content
            }
            Self::Checkpoint => {
                let end = content.len().saturating_sub(16);
                seal(content.get(CHECKPOINT.len()..end).unwrap_or_default())
            }
        }
    }
}

/// Repairs the checksums of all records with a valid length.
fn repair_records(bytes: &mut [u8]) {
    let mut offset = 12;
    while let Some(prefix) = bytes.get(offset..offset + 12) {
        let length = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]) as usize;
        let Some(end) = (offset + 12).checked_add(length).filter(|end| *end <= bytes.len()) else { return };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[offset..offset + 8]);
        hasher.update(&bytes[offset + 12..end]);
        bytes[offset + 8..offset + 12].copy_from_slice(&hasher.finalize().to_le_bytes());
        offset = end;
    }
}

/// Repairs the checksum of the header of a mapped file.
fn repair_header(bytes: &mut [u8]) {
    let Some(length) = bytes.get(16..20) else { return };
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    if length >= 36 && length <= bytes.len() {
        let checksum = crc32fast::hash(&bytes[..length - 4]);
        bytes[length - 4..length].copy_from_slice(&checksum.to_le_bytes());
    }
}
