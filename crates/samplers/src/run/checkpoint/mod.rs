//! Checkpoints of chains: saving and resuming.

mod in_memory;
mod run_fingerprint;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sgmcmc_gradient::{Error, Result};

pub use in_memory::InMemoryCheckpoints;
pub(super) use run_fingerprint::{RunFingerprint, Schedules};
pub(super) use sgmcmc_fit::checkpoint::Cursor;
use sgmcmc_fit::checkpoint::journal::Journal;
pub use sgmcmc_fit::checkpoint::{CheckpointStore, Claim};
use sgmcmc_fit::checkpoint::{Saved, sealed};

use crate::chain::Chain;
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_fit::sink::Sink;

/// The interval between two checkpoints of a chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::CheckpointInterval;
/// use sgmcmc::storage::FileCheckpoints;
///
/// let directory = std::env::temp_dir().join(format!("sgmcmc-interval-{}", std::process::id()));
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let run = || ula(&model, &Dataset::none(), 0.1);
/// let store = || FileCheckpoints::new(&directory);
/// // A run of 50 draws that is resumed is a run of 100 draws.
/// run().checkpoint(store()?, CheckpointInterval::Steps(10)).sample(&zeros([1]), 50)?;
/// let resumed = run().checkpoint(store()?, CheckpointInterval::Steps(10)).sample(&zeros([1]), 100)?;
/// assert_eq!(resumed.chains()[0].values(), run().sample(&zeros([1]), 100)?.chains()[0].values());
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CheckpointInterval {
    /// The number of steps.
    Steps(u64),
    /// The time.
    Time(Duration),
}

/// The store of checkpoints and their interval.
#[derive(Clone)]
pub(crate) struct Checkpoints {
    pub(crate) store: Arc<dyn CheckpointStore>,
    pub(crate) every: CheckpointInterval,
}

impl fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.every)
    }
}

impl Checkpoints {
    /// Returns the number of draws in the checkpoint of `chain`, or zero if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the checkpoint cannot be read or is damaged.
    pub(super) fn saved_draws(&self, chain: usize) -> Result<usize> {
        let Some(bytes) = self.store.load(chain)? else { return Ok(0) };
        let saved: Saved = decode(sealed::unseal(&bytes)?)?;
        Ok(saved.cursor.draws)
    }
}

/// Saves one chain at intervals, and restores it.
#[derive(Debug)]
pub(super) struct Checkpointer {
    checkpoints: Checkpoints,
    fingerprint: RunFingerprint,
    journal: Journal,
    /// The number of draws that were requested.
    planned: usize,
    steps: u64,
    last: Instant,
}

impl Checkpointer {
    pub(super) fn new(checkpoints: Checkpoints, fingerprint: RunFingerprint, planned: usize) -> Self {
        Self { checkpoints, fingerprint, journal: Journal::default(), planned, steps: 0, last: Instant::now() }
    }

    /// Counts a step and returns whether the chain is to be saved after it.
    pub(super) fn is_due(&mut self) -> bool {
        self.steps += 1;
        match self.checkpoints.every {
            CheckpointInterval::Steps(steps) => self.steps >= steps.max(1),
            // Reading the clock in every step would slow down fast chains.
            CheckpointInterval::Time(time) => self.steps.is_multiple_of(16) && self.last.elapsed() >= time,
        }
    }

    /// Saves the chain. The journal is written before the state that refers to it.
    pub(super) fn save<S: Sink>(&mut self, chain: &dyn Chain, sink: &mut S, cursor: Cursor) -> Result<()> {
        let store = &self.checkpoints.store;
        sink.flush()?;
        let index = self.fingerprint.chain;
        let offset = self.journal.extent().length;
        let head = if offset == 0 { Some(encode(&self.fingerprint)?) } else { None };
        let part = Some(sink.append()?).filter(|part| !part.is_empty());
        let parts: Vec<&[u8]> = [&head, &part].into_iter().flatten().map(Vec::as_slice).collect();
        if !parts.is_empty() {
            store.append(index, offset, &self.journal.frame(&parts))?;
        }
        let (journal, planned) = (self.journal.extent(), self.planned);
        let saved = Saved { chain: chain.save()?, sink: sink.save()?, cursor, journal, planned };
        store.save(index, &sealed::seal(&encode(&saved)?))?;
        (self.steps, self.last) = (0, Instant::now());
        Ok(())
    }

    /// Restores `chain` and `sink` from the last checkpoint, if there is one, for a run of `draws` draws.
    ///
    /// # Errors
    ///
    /// Returns an error if the checkpoint is damaged, belongs to another run, or has more draws.
    pub(super) fn restore<S: Sink>(
        &mut self,
        chain: &mut dyn Chain,
        sink: &mut S,
        draws: usize,
    ) -> Result<Option<Cursor>> {
        let store = &self.checkpoints.store;
        let index = self.fingerprint.chain;
        let Some(bytes) = store.load(index)? else { return Ok(None) };
        let saved: Saved = decode(sealed::unseal(&bytes)?)?;
        let mut checked = false;
        let reader = store.journal(index, saved.journal.length)?;
        let fingerprint = &self.fingerprint;
        let journal = Journal::replay(reader, saved.journal, |part| {
            if checked {
                return sink.replay(&part).map_err(other_sinks);
            }
            checked = true;
            fingerprint.check(&decode(&part)?)
        })?;
        if !checked {
            return Err(Error::Checkpoint { reason: "it does not identify its run".into() });
        }
        if saved.cursor.draws > draws {
            let reason = format!(
                "it has {} draws, but this run asks for {draws}: request at least as many, or use another directory for checkpoints",
                saved.cursor.draws
            );
            return Err(Error::Checkpoint { reason });
        }
        chain.restore(&saved.chain)?;
        sink.restore(&saved.sink).map_err(other_sinks)?;
        self.journal = journal;
        Ok(Some(saved.cursor))
    }
}

/// Adds the likely reason to the error of a sink: the checkpoint was made with other sinks, or a file has changed.
fn other_sinks(error: Error) -> Error {
    match error {
        Error::Checkpoint { reason } => {
            Error::Checkpoint { reason: format!("it was made with other sinks, or their files have changed: {reason}") }
        }
        other => other,
    }
}
