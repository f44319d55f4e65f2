//! Checksummed bytes: a magic number, the bytes, and a fingerprint of both.

use sgmcmc_gradient::{Error, Fingerprint, Result};

/// The first bytes of every saved state. The number is the version of the format.
const MAGIC: &[u8] = b"sgmcmc checkpoint 2\n";

/// The length of a fingerprint in bytes.
const SEAL: usize = 16;

/// Adds the magic number and the fingerprint to `bytes`.
pub fn seal(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(MAGIC.len() + bytes.len() + SEAL);
    sealed.extend_from_slice(MAGIC);
    sealed.extend_from_slice(bytes);
    let fingerprint = Fingerprint::new(&sealed);
    sealed.extend_from_slice(&fingerprint.to_le_bytes());
    sealed
}

/// Returns the bytes without magic number and fingerprint.
///
/// # Errors
///
/// Returns an error if the bytes were changed, or were not made by [`seal`].
pub fn unseal(sealed: &[u8]) -> Result<&[u8]> {
    let fail = |reason: &str| Err(Error::Checkpoint { reason: reason.into() });
    if !sealed.starts_with(MAGIC) {
        return fail("it is damaged, or it was made by another version of the library");
    }
    let Some((content, seal)) = sealed.len().checked_sub(SEAL).and_then(|at| sealed.split_at_checked(at)) else {
        return fail("it is damaged: its end is missing");
    };
    match content.get(MAGIC.len()..) {
        Some(bytes) if Fingerprint::new(content).to_le_bytes() == seal => Ok(bytes),
        _ => fail("it is damaged: its checksum is wrong"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_bytes_and_truncation_are_detected() {
        let sealed = seal(b"the state of a chain");
        assert_eq!(unseal(&sealed).unwrap(), b"the state of a chain");
        for position in 0..sealed.len() {
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[position] ^= 1 << bit;
                assert!(unseal(&changed).is_err(), "bit {bit} of byte {position}");
            }
            assert!(unseal(&sealed[..position]).is_err(), "cut at {position}");
        }
        assert!(unseal(&[sealed, vec![0]].concat()).is_err());
    }
}
