//! Checkpoints: their stores, their parts, and the draws in them.

#[doc(hidden)]
pub mod journal;
mod saved;
#[doc(hidden)]
pub mod sealed;

pub use saved::saved_fit;
#[doc(hidden)]
pub use saved::{Cursor, Saved};

use std::any::Any;
use std::fmt;
use std::io::Read;
use std::sync::Arc;

use sgmcmc_gradient::Result;

/// A store of the checkpoints of the chains of one run, for instance files. Interleaved chains share one checkpoint.
///
/// A checkpoint has two parts. The *state* is small and is replaced as a whole by every checkpoint. The *journal* only
/// grows: draws that a sink keeps in memory are appended to it once. The state contains the length of the journal that
/// belongs to it, and is written after the journal. Bytes after this length are left over from a run that was killed.
/// The next [`append`](Self::append) truncates them.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
/// use std::io::{Cursor, Read};
/// use std::sync::Mutex;
/// use sgmcmc::gradient::Result;
/// use sgmcmc::run::CheckpointStore;
///
/// /// Keeps checkpoints in memory: a state and a journal per chain.
/// #[derive(Default)]
/// struct InMemory(Mutex<HashMap<usize, (Vec<u8>, Vec<u8>)>>);
///
/// impl CheckpointStore for InMemory {
///     fn save(&self, chain: usize, state: &[u8]) -> Result<()> {
///         self.0.lock().unwrap().entry(chain).or_default().0 = state.to_vec();
///         Ok(())
///     }
///     fn load(&self, chain: usize) -> Result<Option<Vec<u8>>> {
///         Ok(self.0.lock().unwrap().get(&chain).map(|(state, _)| state.clone()))
///     }
///     fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()> {
///         let mut chains = self.0.lock().unwrap();
///         let journal = &mut chains.entry(chain).or_default().1;
///         journal.truncate(at as usize);
///         journal.extend_from_slice(bytes);
///         Ok(())
///     }
///     fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>> {
///         let journal = self.0.lock().unwrap().get(&chain).map(|(_, journal)| journal.clone()).unwrap_or_default();
///         Ok(Box::new(Cursor::new(journal).take(length)))
///     }
/// }
///
/// let store = InMemory::default();
/// store.append(0, 0, b"draws")?;
/// store.save(0, b"state")?;
/// assert_eq!(store.load(0)?, Some(b"state".to_vec()));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait CheckpointStore: Send + Sync {
    /// Replaces the state of `chain` atomically.
    ///
    /// # Errors
    ///
    /// Returns an error if the state cannot be written.
    fn save(&self, chain: usize, state: &[u8]) -> Result<()>;

    /// Returns the last state of `chain`, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the state cannot be read.
    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>>;

    /// Truncates the journal of `chain` to its first `at` bytes and appends `bytes`. The bytes must be durable when
    /// this returns.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal is shorter than `at`, or cannot be written.
    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()>;

    /// Returns a reader of the first `length` bytes of the journal of `chain`.
    ///
    /// # Errors
    ///
    /// Returns an error if the journal is shorter, or cannot be read.
    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>>;

    /// Claims the store for one run until the claim is dropped. The default implementation allows any number of runs.
    ///
    /// # Errors
    ///
    /// Returns an error if another run uses the store.
    fn claim(&self) -> Result<Claim> {
        Ok(Claim::none())
    }
}

impl<S: CheckpointStore + ?Sized> CheckpointStore for Arc<S> {
    fn save(&self, chain: usize, state: &[u8]) -> Result<()> {
        (**self).save(chain, state)
    }

    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>> {
        (**self).load(chain)
    }

    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()> {
        (**self).append(chain, at, bytes)
    }

    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>> {
        (**self).journal(chain, length)
    }

    fn claim(&self) -> Result<Claim> {
        (**self).claim()
    }
}

/// The exclusive right to use a [`CheckpointStore`]. Dropping the claim releases the store.
///
/// # Examples
///
/// ```
/// use sgmcmc::run::Claim;
///
/// let lock = std::fs::File::create(std::env::temp_dir().join("sgmcmc-doc-claim.lock"))?;
/// let claim = Claim::new(lock);
/// drop(claim); // Closes the file.
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Claim {
    _guard: Box<dyn Any + Send + Sync>,
}

impl Claim {
    /// Creates a claim that owns `guard`, for instance a locked file. The guard is dropped with the claim.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self { _guard: Box::new(guard) }
    }

    /// Creates a claim that does not exclude other runs.
    pub fn none() -> Self {
        Self::new(())
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Claim")
    }
}
