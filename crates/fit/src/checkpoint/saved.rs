//! The states in checkpoints, and the draws of runs that are under way or were interrupted.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use sgmcmc_gradient::{Error, Layout, Result};

use super::CheckpointStore;
use super::journal::{Extent, Journal};
use super::sealed::unseal;
use crate::codec::decode;
use crate::{ChainDraws, ChainOutcome, Fit, RunInfo};

/// The state of a chain in a checkpoint. The fingerprint of the run is the first part of the journal.
// The names in checkpoints are those of the first format.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved {
    /// The state of the chain.
    #[serde(rename = "kernel", with = "serde_bytes")]
    pub chain: Vec<u8>,
    /// The state of the sink.
    #[serde(with = "serde_bytes")]
    pub sink: Vec<u8>,
    /// The progress of the chain.
    #[serde(rename = "place")]
    pub cursor: Cursor,
    /// The journal that belongs to the state.
    pub journal: Extent,
    /// The number of draws that were requested.
    #[serde(default)]
    pub planned: usize,
}

/// The progress of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cursor {
    /// The number of draws so far.
    pub draws: usize,
    /// The iteration after which draws are kept, once it is known.
    pub begin: Option<u64>,
    /// The sums of the step sizes of the draws and of their squares.
    pub steps: [f64; 2],
    /// The number of iterations whose log posterior was not finite.
    pub undefined: u64,
    /// The number of such iterations at the end of the chain so far.
    pub undefined_now: u64,
    /// The time in seconds that the chain has taken.
    #[serde(default)]
    pub seconds: f64,
}

/// The part of the fingerprint of a run that a reader of its draws needs.
#[derive(Deserialize)]
struct Head {
    layout: Layout,
    observations: usize,
    algorithm: String,
    gradient: String,
    seed: u64,
    burn_in: u64,
    thin: u64,
}

/// Returns the draws in the checkpoints of the chains with the indices `chains`, of a run that keeps its draws in memory.
/// The run may be under way. Chains with fewer draws than requested count as stopped. Returns `None` if there are no
/// draws in the checkpoints, as for a run that writes its draws to files.
///
/// # Errors
///
/// Returns an error if a checkpoint cannot be read or is damaged, or if the checkpoints belong to different runs.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints, saved_fit};
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let store = Arc::new(InMemoryCheckpoints::default());
/// let run = ula(&model, &Dataset::none(), 0.1).checkpoint(store.clone(), CheckpointInterval::Steps(10));
/// let fit = run.sample(&zeros([1]), 50)?;
/// assert_eq!(saved_fit(&store, 0..1)?.unwrap().chains(), fit.chains());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn saved_fit(store: &dyn CheckpointStore, chains: impl IntoIterator<Item = usize>) -> Result<Option<Fit>> {
    let (mut draws, mut outcomes, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    let (mut planned, mut common) = (None, None::<Head>);
    for chain in chains {
        let Some(bytes) = store.load(chain)? else { continue };
        let saved: Saved = decode(unseal(&bytes)?)?;
        let (mut head, mut recorded) = (None::<Head>, Vec::<ChainDraws>::new());
        Journal::replay(store.journal(chain, saved.journal.length)?, saved.journal, |part| {
            if head.is_none() {
                head = Some(decode(&part)?);
                return Ok(());
            }
            let parts = chain_draws(&part);
            if recorded.is_empty() {
                recorded = parts;
                return Ok(());
            }
            recorded.iter_mut().zip(&parts).try_for_each(|(all, part)| all.extend(part))
        })?;
        let Some(head) = head else { continue };
        let share = saved.planned.div_ceil(recorded.len().max(1));
        seconds.extend(recorded.iter().map(|_| saved.cursor.seconds / recorded.len() as f64));
        for chain in recorded {
            let complete = share > 0 && chain.len() >= share;
            planned = planned.max((share > 0).then_some(share));
            outcomes.push(if complete { ChainOutcome::Complete } else { ChainOutcome::Stopped });
            draws.push(chain);
        }
        let first = common.get_or_insert(head);
        if draws.last().is_some_and(|chain| chain.width() != first.layout.value_count()) {
            return Err(Error::Checkpoint { reason: "the chains have different parameters".into() });
        }
    }
    let Some(Head { layout, observations, algorithm, gradient, seed, burn_in, thin }) = common else { return Ok(None) };
    if draws.is_empty() {
        return Ok(None);
    }
    let info =
        RunInfo { algorithm, gradient, observations, seed, burn_in, thin, seconds, planned, ..RunInfo::default() };
    Ok(Some(Fit::new(layout, draws)?.with_outcomes(outcomes)?.with_info(info)))
}

/// Returns the draws in a part of a journal: those of a sink in memory, of interleaved chains, or of one of several sinks.
fn chain_draws(part: &[u8]) -> Vec<ChainDraws> {
    if let Ok(draws) = decode::<ChainDraws>(part) {
        return vec![draws];
    }
    decode::<Vec<ByteBuf>>(part)
        .map_or_else(|_| Vec::new(), |parts| parts.iter().flat_map(|p| chain_draws(p)).collect())
}
