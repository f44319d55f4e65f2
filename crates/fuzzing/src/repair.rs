//! Checksums and compression put right after damage, so that it reaches the code behind them.

use std::io::Read;

use crate::corpus::gzip;

/// What stands around the content that is worth damaging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    None,
    Gzip,
    /// Records with checksums.
    Native,
    /// A header with a checksum.
    Mapped,
}

impl Wrapping {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            _ if bytes.starts_with(b"\x89sgmcmc\n") => Self::Native,
            _ if bytes.starts_with(b"\x89SGMCMC\n") => Self::Mapped,
            _ => Self::None,
        }
    }

    /// The content.
    pub(crate) fn unwrap(self, bytes: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        match self {
            Self::Gzip if flate2::read::GzDecoder::new(bytes).read_to_end(&mut content).is_ok() => content,
            _ => bytes.to_vec(),
        }
    }

    /// The damaged content as a file that only its content is wrong with.
    pub(crate) fn wrap(self, mut content: Vec<u8>) -> Vec<u8> {
        match self {
            Self::None => content,
            Self::Gzip => gzip(&content).unwrap_or(content),
            Self::Native => {
                records(&mut content);
                content
            }
            Self::Mapped => {
                header(&mut content);
                content
            }
        }
    }
}

/// Puts the checksums of all records right whose lengths fit.
fn records(bytes: &mut [u8]) {
    let mut place = 12;
    while let Some(prefix) = bytes.get(place..place + 12) {
        let length = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]) as usize;
        let Some(end) = (place + 12).checked_add(length).filter(|end| *end <= bytes.len()) else { return };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[place..place + 8]);
        hasher.update(&bytes[place + 12..end]);
        bytes[place + 8..place + 12].copy_from_slice(&hasher.finalize().to_le_bytes());
        place = end;
    }
}

fn header(bytes: &mut [u8]) {
    let Some(length) = bytes.get(16..20) else { return };
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
    if length >= 36 && length <= bytes.len() {
        let checksum = crc32fast::hash(&bytes[..length - 4]);
        bytes[length - 4..length].copy_from_slice(&checksum.to_le_bytes());
    }
}
