//! Saving chains on the way, and going on from there.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Layout, Result};

/// Keeps the last checkpoint of every chain. Files are one way; see the storage crate. Interleaved chains have one checkpoint together.
pub trait CheckpointStore: Send + Sync {
    /// Replaces the checkpoint of `chain`, all or nothing.
    fn save(&self, chain: usize, bytes: &[u8]) -> Result<()>;

    /// The last checkpoint of `chain`, if there is one.
    fn load(&self, chain: usize) -> Result<Option<Vec<u8>>>;
}

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

/// What a run must have in common with the checkpoint it goes on from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) version: String,
    pub(super) layout: Layout,
    pub(super) observations: usize,
    pub(super) data: u64,
    pub(super) algorithm: String,
    pub(super) gradient: String,
    pub(super) step_size: String,
    pub(super) seed: u64,
    pub(super) chain: usize,
    pub(super) burn_in: u64,
    pub(super) thin: u64,
}

impl Identity {
    /// An error that names the first thing in which `self`, the run, differs from `saved`.
    fn check(&self, saved: &Self) -> Result<()> {
        let differ = |what: &str, run: &dyn fmt::Debug, saved: &dyn fmt::Debug| {
            let reason = format!("its {what} is {saved:?}, but that of this run is {run:?}");
            Err(Error::Checkpoint { reason })
        };
        macro_rules! same {
            ($($field:ident $what:literal),+) => {
                $(if self.$field != saved.$field {
                    return differ($what, &self.$field, &saved.$field);
                })+
            };
        }
        same!(
            version "version of the library", observations "number of observations", data "fingerprint of the data",
            algorithm "algorithm", gradient "gradient estimator", step_size "step size", seed "seed", chain "chain number",
            burn_in "burn-in", thin "thinning"
        );
        let names =
            |layout: &Layout| layout.blocks().iter().map(|b| (b.name.clone(), b.shape.clone())).collect::<Vec<_>>();
        if self.layout != saved.layout {
            return differ("layout of the parameters", &names(&self.layout), &names(&saved.layout));
        }
        Ok(())
    }
}

/// A chain on the way.
#[derive(Serialize, Deserialize)]
struct Saved {
    identity: Identity,
    #[serde(with = "serde_bytes")]
    kernel: Vec<u8>,
    #[serde(with = "serde_bytes")]
    sink: Vec<u8>,
    place: Place,
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
}

/// A chain's part of a checkpoint: the kernel's bytes, the sink's, and how far it had come.
pub(super) struct Restored {
    pub(super) kernel: Vec<u8>,
    pub(super) sink: Vec<u8>,
    pub(super) place: Place,
}

/// Saves one chain when it is time to.
#[derive(Debug)]
pub(super) struct Keeper {
    checkpoints: Option<Checkpoints>,
    identity: Identity,
    steps: u64,
    last: Instant,
}

impl Keeper {
    pub(super) fn new(checkpoints: Option<Checkpoints>, identity: Identity) -> Self {
        Self { checkpoints, identity, steps: 0, last: Instant::now() }
    }

    /// Whether the chain should be saved after this step.
    pub(super) fn is_due(&mut self) -> bool {
        self.steps += 1;
        match self.checkpoints.as_ref().map(|checkpoints| checkpoints.every) {
            None => false,
            Some(Every::Steps(steps)) => self.steps >= steps.max(1),
            // The clock is not looked at in every one of many fast steps.
            Some(Every::Time(time)) => self.steps.is_multiple_of(16) && self.last.elapsed() >= time,
        }
    }

    pub(super) fn chain(&self) -> usize {
        self.identity.chain
    }

    pub(super) fn is_on(&self) -> bool {
        self.checkpoints.is_some()
    }

    pub(super) fn save(&mut self, kernel: Vec<u8>, sink: Vec<u8>, place: Place) -> Result<()> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let bytes = encode(&Saved { identity: self.identity.clone(), kernel, sink, place })?;
        checkpoints.store.save(self.identity.chain, &bytes)?;
        (self.steps, self.last) = (0, Instant::now());
        Ok(())
    }

    /// The last checkpoint of this chain, if there is one; an error if it is of another run.
    pub(super) fn load(&self) -> Result<Option<Restored>> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(None) };
        let Some(bytes) = checkpoints.store.load(self.identity.chain)? else { return Ok(None) };
        let Saved { identity, kernel, sink, place } = decode(&bytes)?;
        self.identity.check(&identity)?;
        Ok(Some(Restored { kernel, sink, place }))
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
