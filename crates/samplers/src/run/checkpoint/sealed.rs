//! Bytes that tell whether they are whole: a mark, the bytes, and a fingerprint of both.

use sgmcmc_core::{Error, Fingerprint, Result};

/// The first bytes of every state. The number changes with the format.
const MARK: &[u8] = b"sgmcmc checkpoint 2\n";

/// The length of a fingerprint.
const SEAL: usize = 16;

/// Adds the mark and the fingerprint to `bytes`.
pub(super) fn seal(bytes: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(MARK.len() + bytes.len() + SEAL);
    sealed.extend_from_slice(MARK);
    sealed.extend_from_slice(bytes);
    let fingerprint = Fingerprint::of(&sealed);
    sealed.extend_from_slice(&fingerprint.to_le_bytes());
    sealed
}

/// Returns the bytes that [`seal`] was given.
///
/// # Errors
///
/// If there is any change, or the bytes are of something else.
pub(super) fn unseal(sealed: &[u8]) -> Result<&[u8]> {
    let refuse = |reason: &str| Err(Error::Checkpoint { reason: reason.into() });
    if !sealed.starts_with(MARK) {
        return refuse("it is damaged, or it was made by another version of the library");
    }
    let Some((content, seal)) = sealed.len().checked_sub(SEAL).and_then(|at| sealed.split_at_checked(at)) else {
        return refuse("it is damaged: its end is missing");
    };
    match content.get(MARK.len()..) {
        Some(bytes) if Fingerprint::of(content).to_le_bytes() == seal => Ok(bytes),
        _ => refuse("it is damaged: its checksum is wrong"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_byte_and_every_cut_is_noticed() {
        let sealed = seal(b"the state of a chain");
        assert_eq!(unseal(&sealed).unwrap(), b"the state of a chain");
        for place in 0..sealed.len() {
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[place] ^= 1 << bit;
                assert!(unseal(&changed).is_err(), "bit {bit} of byte {place}");
            }
            assert!(unseal(&sealed[..place]).is_err(), "cut at {place}");
        }
        assert!(unseal(&[sealed, vec![0]].concat()).is_err());
    }
}
