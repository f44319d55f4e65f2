//! Checkpoints of a chain with draws in memory, and the draws in damaged journals.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use sgmcmc_fit::checkpoint::journal::Journal;
use sgmcmc_fit::checkpoint::sealed::seal;
use sgmcmc_fit::checkpoint::{CheckpointStore, saved_fit};
use sgmcmc_fit::codec::encode;
use sgmcmc_fit::sink::{Memory, Schema, Sink};
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Fingerprint, Layout, Result};

use crate::corpus::draw;

/// The first part of a journal.
#[derive(Serialize)]
struct Head {
    layout: Layout,
    observations: usize,
    algorithm: &'static str,
    gradient: &'static str,
    seed: u64,
    burn_in: u64,
    thin: u64,
}

/// The state of a chain.
#[derive(Serialize)]
struct State {
    kernel: [u8; 0],
    sink: [u8; 0],
    place: Place,
    journal: Extent,
    planned: usize,
}

#[derive(Serialize)]
struct Place {
    draws: usize,
    begin: Option<u64>,
    steps: [f64; 2],
    undefined: u64,
    undefined_now: u64,
}

#[derive(Serialize)]
struct Extent {
    length: u64,
    fingerprint: Fingerprint,
}

/// Returns the journal of a chain with a few draws.
pub(crate) fn journal(layout: Layout) -> Result<Vec<u8>> {
    let (algorithm, gradient) = ("SGLD", "minibatch");
    let head = Head { layout: layout.clone(), observations: 10, algorithm, gradient, seed: 1, burn_in: 0, thin: 1 };
    let mut sink = Memory::default();
    sink.begin(&Schema { layout, draws: 6, chain: 0, chains: 1, stats: vec!["alpha".into()] })?;
    let mut parts = vec![encode(&head)?];
    for index in 0..6 {
        draw(0, index, |draw| sink.record(draw))?;
        if index % 2 == 1 {
            parts.push(sink.append()?);
        }
    }
    Ok(Journal::default().frame(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// Returns the state that belongs to a journal, whatever its bytes are.
pub(crate) fn state(journal: &[u8]) -> Result<Vec<u8>> {
    let mut hasher = Fingerprinter::new();
    hasher.bytes(journal);
    let extent = Extent { length: journal.len() as u64, fingerprint: hasher.finish() };
    let place = Place { draws: 6, begin: Some(0), steps: [0.06, 0.0006], undefined: 0, undefined_now: 0 };
    Ok(seal(&encode(&State { kernel: [], sink: [], place, journal: extent, planned: 10 })?))
}

/// Reads the draws in a journal.
pub(crate) fn read(path: &Path) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    match saved_fit(&OneChain(bytes), [0]) {
        Ok(Some(fit)) => crate::targets::judged(&fit),
        _ => false,
    }
}

/// A store with the journal of one chain.
struct OneChain(Vec<u8>);

impl CheckpointStore for OneChain {
    fn save(&self, _: usize, _: &[u8]) -> Result<()> {
        Err(read_only())
    }

    fn load(&self, _: usize) -> Result<Option<Vec<u8>>> {
        state(&self.0).map(Some)
    }

    fn append(&self, _: usize, _: u64, _: &[u8]) -> Result<()> {
        Err(read_only())
    }

    fn journal(&self, _: usize, length: u64) -> Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(io::Cursor::new(&self.0).take(length)))
    }
}

fn read_only() -> Error {
    Error::Checkpoint { reason: "it is only read".into() }
}
