//! Saving chains on the way, and going on from there.

mod identity;
mod journal;
mod sealed;
mod store;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Result};

pub(super) use identity::{Identity, Schedules};
use journal::{Extent, Journal};
pub use store::{CheckpointStore, Claim};

use crate::kernel::Kernel;
use crate::sink::Sink;

/// How often chains are saved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// After so many steps.
    Steps(u64),
    /// After so much time.
    Time(Duration),
}

/// Where chains are saved, and how often.
#[derive(Clone)]
pub(super) struct Checkpoints {
    pub(super) store: Arc<dyn CheckpointStore>,
    pub(super) every: Every,
}

impl fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.every)
    }
}

/// The state of a chain on the way. Its identity is the first part of the journal.
#[derive(Serialize, Deserialize)]
struct Saved {
    #[serde(with = "serde_bytes")]
    kernel: Vec<u8>,
    #[serde(with = "serde_bytes")]
    sink: Vec<u8>,
    place: Place,
    journal: Extent,
}

/// How far a chain has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    /// Draws made so far.
    pub(super) draws: usize,
    /// The iteration after which draws count, once it is known.
    pub(super) begin: Option<u64>,
    /// Sums of the step sizes of the draws and of their squares.
    pub(super) steps: [f64; 2],
    /// Iterations whose log posterior was not a finite number.
    pub(super) undefined: u64,
    /// How many of them were the last ones.
    pub(super) undefined_now: u64,
}

/// Saves one chain when it is time to.
#[derive(Debug)]
pub(super) struct Keeper {
    checkpoints: Checkpoints,
    identity: Identity,
    journal: Journal,
    steps: u64,
    last: Instant,
}

impl Keeper {
    pub(super) fn new(checkpoints: Checkpoints, identity: Identity) -> Self {
        Self { checkpoints, identity, journal: Journal::default(), steps: 0, last: Instant::now() }
    }

    /// Whether the chain should be saved after this step.
    pub(super) fn is_due(&mut self) -> bool {
        self.steps += 1;
        match self.checkpoints.every {
            Every::Steps(steps) => self.steps >= steps.max(1),
            // The clock is not looked at in every one of many fast steps.
            Every::Time(time) => self.steps.is_multiple_of(16) && self.last.elapsed() >= time,
        }
    }

    /// Saves the chain. The journal is written before the state that refers to it.
    pub(super) fn save<S: Sink>(&mut self, kernel: &dyn Kernel, sink: &mut S, place: Place) -> Result<()> {
        let store = &self.checkpoints.store;
        sink.flush()?;
        let chain = self.identity.chain;
        let at = self.journal.extent().length;
        let head = if at == 0 { Some(encode(&self.identity)?) } else { None };
        let part = Some(sink.append()?).filter(|part| !part.is_empty());
        let parts: Vec<&[u8]> = [&head, &part].into_iter().flatten().map(Vec::as_slice).collect();
        if !parts.is_empty() {
            store.append(chain, at, &self.journal.frame(&parts))?;
        }
        let saved = Saved { kernel: kernel.save()?, sink: sink.save()?, place, journal: self.journal.extent() };
        store.save(chain, &sealed::seal(&encode(&saved)?))?;
        (self.steps, self.last) = (0, Instant::now());
        Ok(())
    }

    /// Puts `kernel` and `sink` where the last checkpoint of this chain was made, if there is one, for a run of `draws` draws.
    ///
    /// # Errors
    ///
    /// If the checkpoint is damaged, of another run, or has more draws.
    pub(super) fn restore<S: Sink>(
        &mut self,
        kernel: &mut dyn Kernel,
        sink: &mut S,
        draws: usize,
    ) -> Result<Option<Place>> {
        let store = &self.checkpoints.store;
        let chain = self.identity.chain;
        let Some(bytes) = store.load(chain)? else { return Ok(None) };
        let saved: Saved = decode(sealed::unseal(&bytes)?)?;
        let mut checked = false;
        let reader = store.journal(chain, saved.journal.length)?;
        let identity = &self.identity;
        let journal = Journal::replay(reader, saved.journal, |part| {
            if checked {
                return sink.replay(&part).map_err(other_sinks);
            }
            checked = true;
            identity.check(&decode(&part)?)
        })?;
        if !checked {
            return Err(Error::Checkpoint { reason: "it does not say of which run it is".into() });
        }
        if saved.place.draws > draws {
            let reason = format!(
                "it has {} draws, but this run asks for {draws}: ask for at least as many, or use another place for checkpoints",
                saved.place.draws
            );
            return Err(Error::Checkpoint { reason });
        }
        kernel.restore(&saved.kernel)?;
        sink.restore(&saved.sink).map_err(other_sinks)?;
        self.journal = journal;
        Ok(Some(saved.place))
    }
}

/// What a sink refuses was saved by another one, or points at a file that has changed.
fn other_sinks(error: Error) -> Error {
    match error {
        Error::Checkpoint { reason } => {
            Error::Checkpoint { reason: format!("it was made with other sinks, or their files have changed: {reason}") }
        }
        other => other,
    }
}

/// Any state as bytes.
pub(crate) fn encode<T: Serialize>(state: &T) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(state, &mut bytes).map_err(|error| Error::Checkpoint { reason: error.to_string() })?;
    Ok(bytes)
}

/// What [`encode`] made bytes of.
pub(crate) fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    ciborium::from_reader(bytes).map_err(|error| Error::Checkpoint { reason: error.to_string() })
}
