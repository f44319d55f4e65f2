//! Checkpoints that rank 0 keeps for all ranks.

use std::io::{Cursor, Read};
use std::sync::Arc;

use sgmcmc_fit::checkpoint::{CheckpointStore, Claim};
use sgmcmc_gradient::{Error, Result};

use crate::collective::{Collective, agree};

/// A store of checkpoints of chains whose state is the same on all ranks. Rank 0 writes them. All ranks resume from what
/// rank 0 reads.
///
/// It belongs to [data-parallel](crate::data_parallel) runs. Chains are loaded in the same order on all ranks, see
/// [`in_order`](crate::chains::in_order). A resume with another number of ranks is refused, because it would add in another order.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::checkpoint::RootCheckpoints;
/// use sgmcmc::distributed::collective::{Error, on_threads};
/// use sgmcmc::distributed::data_parallel::DataParallel;
/// use sgmcmc::algorithms::Hmc;
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints};
///
/// // Only the store of rank 0 is used.
/// let store = InMemoryCheckpoints::default();
/// let sample = |draws: usize| {
///     on_threads(2, |ranks| {
///         let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| (x - mean).square() * -0.5);
///         let data = Dataset::new(array(vec![0.5_f32, 1.0 + ranks.rank() as f32], [2])?)?;
///         let target = DataParallel::new(model.with(&data), ranks.clone());
///         let store = RootCheckpoints::new(store.clone(), ranks);
///         let run = Builder::new(target, Hmc::default(), FullGradient, 0.3);
///         let run = run.checkpoint(store, CheckpointInterval::Steps(10));
///         Ok::<_, Error>(run.sample(&zeros([1]), draws)?)
///     })
/// };
/// let (short, long) = (sample(20)?, sample(40)?);
/// assert_eq!(short[0].chains()[0].values(), &long[1].chains()[0].values()[..20]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct RootCheckpoints<S> {
    store: S,
    ranks: Arc<dyn Collective>,
}

impl<S> std::fmt::Debug for RootCheckpoints<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RootCheckpoints").field("ranks", &self.ranks).finish_non_exhaustive()
    }
}

impl<S: CheckpointStore> RootCheckpoints<S> {
    /// Creates a store from that of rank 0. The stores of the other ranks are not used.
    pub fn new(store: S, ranks: Arc<dyn Collective>) -> Self {
        Self { store, ranks }
    }

    fn is_root(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// Returns the bytes that rank 0 reads, on all ranks.
    fn shared(&self, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        let read = if self.is_root() { read() } else { Ok(Vec::new()) };
        let own = agree(&*self.ranks, read)?;
        let mut all = self.ranks.all_gather(&own)?;
        Ok(all.swap_remove(0))
    }
}

impl<S: CheckpointStore> CheckpointStore for RootCheckpoints<S> {
    fn save(&self, chain: usize, state: &[u8]) -> Result<()> {
        if !self.is_root() {
            return Ok(());
        }
        let mut bytes = (self.ranks.size() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(state);
        self.store.save(chain, &bytes)
    }

    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>> {
        // Rank 0 sends nothing if there is no checkpoint.
        let mut bytes = self.shared(|| Ok(self.store.load(chain)?.unwrap_or_default()))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let state = bytes.split_off(bytes.len().min(8));
        let ranks = <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes);
        let Ok(ranks) = ranks else {
            return Err(Error::Checkpoint { reason: "it is not one of a run on several ranks".into() });
        };
        if ranks == self.ranks.size() as u64 {
            return Ok(Some(state));
        }
        Err(other_ranks(ranks, self.ranks.size()))
    }

    fn append(&self, chain: usize, at: u64, bytes: &[u8]) -> Result<()> {
        if self.is_root() { self.store.append(chain, at, bytes) } else { Ok(()) }
    }

    fn journal(&self, chain: usize, length: u64) -> Result<Box<dyn Read + Send + '_>> {
        let bytes = self.shared(|| {
            let mut bytes = Vec::new();
            let read = self.store.journal(chain, length)?.read_to_end(&mut bytes);
            read.map_err(|error| Error::Checkpoint { reason: error.to_string() })?;
            Ok(bytes)
        })?;
        Ok(Box::new(Cursor::new(bytes)))
    }

    fn claim(&self) -> Result<Claim> {
        agree(&*self.ranks, if self.is_root() { self.store.claim() } else { Ok(Claim::none()) })
    }
}

/// Returns the error of a checkpoint of another number of ranks.
pub(super) fn other_ranks(saved: u64, now: usize) -> Error {
    let reason =
        format!("it was made by {saved} ranks, but this run has {now}: start {saved} ranks, or begin a new run");
    Error::Checkpoint { reason }
}
