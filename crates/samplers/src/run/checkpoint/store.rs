//! Where checkpoints are kept.

use std::any::Any;
use std::fmt;
use std::io::Read;

use sgmcmc_core::Result;

/// Keeps the checkpoints of the chains of one run. Files are one way; see the storage crate. Interleaved chains have one checkpoint
/// together.
///
/// A checkpoint has two parts. The *state* is small and is replaced as a whole every time. The *journal* only grows: draws that a sink
/// keeps in memory are appended to it once. The state says how much of the journal belongs to it, and is written after it; bytes of the
/// journal behind that place are left over from a run that was killed, and are cut off by the next [`append`](Self::append).
pub trait CheckpointStore: Send + Sync {
    /// Replaces the state of `chain`, all or nothing.
    fn save(&self, chain: usize, state: &[u8]) -> Result<()>;

    /// Returns the last state of `chain`, if there is one.
    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>>;

    /// Cuts the journal of `chain` to its first `at` bytes and appends `bytes`. They must be safe when this returns.
    ///
    /// # Errors
    ///
    /// If the journal is shorter than `at`, or cannot be written.
    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()>;

    /// Returns a reader of the first `length` bytes of the journal of `chain`.
    ///
    /// # Errors
    ///
    /// If the journal is shorter, or cannot be read.
    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>>;

    /// Claims the store for one run until the claim is dropped.
    ///
    /// # Errors
    ///
    /// If another run uses the store. The default allows any number of runs.
    fn claim(&self) -> Result<Claim> {
        Ok(Claim::none())
    }
}

/// The right to use a [`CheckpointStore`], until it is dropped.
pub struct Claim {
    _held: Box<dyn Any + Send + Sync>,
}

impl Claim {
    /// A claim that lasts as long as `held`, for instance a locked file.
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Self { _held: Box::new(held) }
    }

    /// A claim that excludes nobody.
    pub fn none() -> Self {
        Self::new(())
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Claim")
    }
}
