//! Checkpoints in memory: see [`InMemoryCheckpoints`].

use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sgmcmc_fit::checkpoint::CheckpointStore;
use sgmcmc_gradient::{Error, Result};

/// A store of checkpoints in memory. Clones share the store.
///
/// It extends a run within one process: a run with the same settings and more draws continues where the last one ended.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints};
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let store = InMemoryCheckpoints::default();
/// let run = || ula(&model, &Dataset::none(), 0.1);
/// let checkpointed = run().checkpoint(store, CheckpointInterval::Steps(1000));
/// let short = checkpointed.sample(&zeros([1]), 50)?;
/// let long = checkpointed.sample(&zeros([1]), 100)?;
/// assert_eq!(long.chains()[0].values()[..50], *short.chains()[0].values());
/// assert_eq!(long.chains()[0].values(), run().sample(&zeros([1]), 100)?.chains()[0].values());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct InMemoryCheckpoints {
    chains: Arc<Mutex<HashMap<usize, Checkpoint>>>,
}

/// The last state and the journal of a chain.
#[derive(Debug, Default)]
struct Checkpoint {
    state: Option<Vec<u8>>,
    journal: Vec<u8>,
}

impl InMemoryCheckpoints {
    fn chains(&self) -> MutexGuard<'_, HashMap<usize, Checkpoint>> {
        // Entries are replaced as a whole, so that a panic of another thread cannot leave one half written.
        self.chains.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CheckpointStore for InMemoryCheckpoints {
    fn save(&self, chain: usize, state: &[u8]) -> Result<()> {
        self.chains().entry(chain).or_default().state = Some(state.to_vec());
        Ok(())
    }

    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.chains().get(&chain).and_then(|checkpoint| checkpoint.state.clone()))
    }

    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()> {
        let mut chains = self.chains();
        let journal = &mut chains.entry(chain).or_default().journal;
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if at > journal.len() {
            return Err(too_short(at, journal.len()));
        }
        journal.truncate(at);
        journal.extend_from_slice(bytes);
        Ok(())
    }

    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let chains = self.chains();
        let journal = chains.get(&chain).map(|checkpoint| &checkpoint.journal[..]).unwrap_or_default();
        match journal.get(..length) {
            Some(part) => Ok(Box::new(Cursor::new(part.to_vec()))),
            None => Err(too_short(length, journal.len())),
        }
    }
}

fn too_short(expected: usize, found: usize) -> Error {
    Error::Length { what: "the journal of a checkpoint", expected, found }
}
