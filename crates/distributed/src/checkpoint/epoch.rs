//! Checkpoints of ranks with states of their own.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_fit::checkpoint::{CheckpointStore, Claim};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::{Error, Fingerprint};
use sgmcmc_storage::FileCheckpoints;

use super::root::other_ranks;
use crate::collective::{Collective, Error as RankError, Result, agree};

/// The checkpoints of all ranks of a run, in epochs: each rank has a store of its own, and all ranks resume from the
/// same epoch.
///
/// An epoch is written beside the one before it. When all ranks have written it, they agree on it, and only then may the next epoch
/// replace an older one. A job that is killed at any moment therefore leaves an epoch that all ranks have.
///
/// A resume with another number of ranks, or of a run with other settings, is refused.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::checkpoint::EpochCheckpoints;
/// use sgmcmc::distributed::collective::{Error, on_threads};
/// use sgmcmc::run::InMemoryCheckpoints;
///
/// let stores = [InMemoryCheckpoints::default(), InMemoryCheckpoints::default()];
/// on_threads(2, |ranks| {
///     let store = || stores[ranks.rank()].clone();
///     let mut checkpoints = EpochCheckpoints::new(store(), ranks.clone(), "model and settings");
///     assert!(checkpoints.resume()?.is_none());
///     checkpoints.save(b"state", b"draws")?;
///
///     let mut again = EpochCheckpoints::new(store(), ranks.clone(), "model and settings");
///     let resumed = again.resume()?.map(|resumed| (resumed.state, resumed.journal));
///     assert_eq!(resumed, Some((b"state".to_vec(), b"draws".to_vec())));
///     Ok(())
/// })?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct EpochCheckpoints {
    store: Box<dyn CheckpointStore>,
    ranks: Arc<dyn Collective>,
    identity: Fingerprint,
    /// The number of epochs so far.
    epoch: u64,
    /// The length of the journal at the last epoch.
    length: u64,
    claim: Option<Claim>,
}

impl std::fmt::Debug for EpochCheckpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EpochCheckpoints").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// The state from which a rank resumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The state of the last epoch.
    pub state: Vec<u8>,
    /// The journals of all epochs, one after another.
    pub journal: Vec<u8>,
}

/// An epoch of one rank.
#[derive(Serialize, Deserialize)]
struct Saved {
    ranks: u64,
    rank: u64,
    epoch: u64,
    identity: Fingerprint,
    /// The length of the journal.
    length: u64,
    #[serde(with = "serde_bytes")]
    state: Vec<u8>,
}

/// The description of a stored epoch that a rank sends to the others.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Announced {
    ranks: u64,
    rank: u64,
    epoch: u64,
    identity: Fingerprint,
}

/// The index of the journal in the store. Epochs alternate between the indices 0 and 1.
const JOURNAL: usize = 0;

impl EpochCheckpoints {
    /// Creates the checkpoints of this rank in `store`, which no other rank uses. `identity` describes everything that
    /// the draws depend on.
    pub fn new(store: impl CheckpointStore + 'static, ranks: Arc<dyn Collective>, identity: &str) -> Self {
        let identity = Fingerprint::new(identity.as_bytes());
        Self { store: Box::new(store), ranks, identity, epoch: 0, length: 0, claim: None }
    }

    /// Creates the checkpoints of this rank in the directory `rank-<r>` of `directory`.
    ///
    /// # Errors
    ///
    /// Returns an error if a rank cannot create its directory.
    pub fn in_directory(directory: impl AsRef<Path>, ranks: Arc<dyn Collective>, identity: &str) -> Result<Self> {
        let directory = directory.as_ref().join(format!("rank-{}", ranks.rank()));
        let store = agree(&*ranks, FileCheckpoints::new(directory).map_err(RankError::from))?;
        Ok(Self::new(store, ranks, identity))
    }

    /// Saves an epoch: `state` replaces the last state, and `journal` is appended to the journal. All ranks must call
    /// it at the same point of the run.
    ///
    /// # Errors
    ///
    /// Returns an error that names the rank if a rank cannot write.
    pub fn save(&mut self, state: &[u8], journal: &[u8]) -> Result<()> {
        let written = self.write(state, journal);
        agree(&*self.ranks, written.map_err(RankError::from))?;
        self.epoch += 1;
        self.length += journal.len() as u64;
        Ok(())
    }

    fn write(&mut self, state: &[u8], journal: &[u8]) -> sgmcmc_gradient::Result<()> {
        if self.claim.is_none() {
            self.claim = Some(self.store.claim()?);
        }
        if !journal.is_empty() {
            self.store.append(JOURNAL, self.length, journal)?;
        }
        let saved = Saved {
            ranks: self.ranks.size() as u64,
            rank: self.ranks.rank() as u64,
            epoch: self.epoch + 1,
            identity: self.identity,
            length: self.length + journal.len() as u64,
            state: state.to_vec(),
        };
        let bytes = encode(&saved)?;
        let mut sealed = Fingerprint::new(&bytes).to_le_bytes().to_vec();
        sealed.extend_from_slice(&bytes);
        self.store.save((saved.epoch % 2) as usize, &sealed)
    }

    /// Returns the state and the journal of the newest epoch that all ranks have, or `None` if there is none. All ranks
    /// must call it, before the first epoch is saved.
    ///
    /// # Errors
    ///
    /// Returns an error that names the rank if a checkpoint is damaged or missing, or belongs to another run or to
    /// another number of ranks.
    pub fn resume(&mut self) -> Result<Option<Resumed>> {
        if self.claim.is_none() {
            self.claim = Some(agree(&*self.ranks, self.store.claim().map_err(RankError::from))?);
        }
        let found: sgmcmc_gradient::Result<Vec<_>> = (0..2).map(|slot| self.read(slot)).collect();
        let found = agree(&*self.ranks, found.map_err(RankError::from))?;
        let announce = |saved: &Saved| {
            let Saved { ranks, rank, epoch, identity, .. } = *saved;
            Announced { ranks, rank, epoch, identity }
        };
        let own: Vec<Announced> = found.iter().flatten().map(announce).collect();
        let all = self.ranks.all_gather(&encode(&own)?)?;
        let all = all.iter().map(|bytes| decode::<Vec<Announced>>(bytes)).collect::<Result<Vec<_>, _>>()?;
        let Some(epoch) = self.common_epoch(&all)? else { return Ok(None) };
        let saved = found.into_iter().flatten().find(|saved| saved.epoch == epoch);
        let read = saved.ok_or_else(|| damaged("it lacks an epoch".into())).and_then(|saved| {
            let mut journal = Vec::new();
            if saved.length > 0 {
                let read = self.store.journal(JOURNAL, saved.length)?.read_to_end(&mut journal);
                read.map_err(|error| damaged(error.to_string()))?;
            }
            (self.epoch, self.length) = (epoch, saved.length);
            Ok(Resumed { state: saved.state, journal })
        });
        agree(&*self.ranks, read.map_err(RankError::from)).map(Some)
    }

    /// Reads the epoch in a slot of the store.
    fn read(&self, slot: usize) -> sgmcmc_gradient::Result<Option<Saved>> {
        let Some(bytes) = self.store.load(slot)? else { return Ok(None) };
        let Some((seal, bytes)) = bytes.split_at_checked(16) else { return Err(damaged("it is too short".into())) };
        if seal != Fingerprint::new(bytes).to_le_bytes() {
            return Err(damaged("its checksum is wrong".into()));
        }
        decode(bytes).map(Some)
    }

    /// Returns the newest epoch that all ranks have.
    fn common_epoch(&self, all: &[Vec<Announced>]) -> Result<Option<u64>> {
        for (rank, saved) in all.iter().enumerate() {
            for announced in saved {
                if announced.ranks != self.ranks.size() as u64 {
                    return Err(other_ranks(announced.ranks, self.ranks.size()).into());
                }
                if announced.identity != self.identity || announced.rank != rank as u64 {
                    let reason = format!(
                        "that of rank {rank} was made by a run with other settings: continue it with the same settings, or \
                         use another directory"
                    );
                    return Err(damaged(reason).into());
                }
            }
        }
        let newest = all.iter().flatten().map(|announced| announced.epoch).max().unwrap_or(0);
        let has = |epoch: u64| all.iter().position(|saved| saved.iter().all(|announced| announced.epoch != epoch));
        // Ranks are at most one epoch apart. Before the first common epoch a run starts from its beginning.
        for epoch in [newest, newest.saturating_sub(1)] {
            match has(epoch) {
                _ if epoch == 0 => return Ok(None),
                None => return Ok(Some(epoch)),
                Some(rank) if epoch < newest => {
                    let reason = format!("rank {rank} has no checkpoint of epoch {epoch}: its files are missing");
                    return Err(damaged(reason).into());
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }
}

fn damaged(reason: String) -> Error {
    Error::Checkpoint { reason }
}
