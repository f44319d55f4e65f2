//! Draws into a file, block by block.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sgmcmc_core::{Error, Result};
use sgmcmc_samplers::run::{ChainDraws, Fit};
use sgmcmc_samplers::sink::{Draw, Schema, Sink};

use super::record::{fits, record, start};
use super::{DRAW, ENDS, Ends, HEAD, PLAN, Plan};
use crate::fits::append::{Append, failed, other};
use crate::fits::table::{draws_per_block, each_draw};

/// Writes the draws of one chain to a file as they are made, in blocks of about a quarter of a megabyte.
///
/// What is lost when a run is killed is the block being filled: at most 1000 draws, none at a checkpoint. With checkpoints the file
/// goes on where the saved chain was. Give the chains of a run files in one directory, `chain-0.sgmcmc` and so on; the directory is
/// then read as one fit.
#[derive(Debug)]
pub struct NativeDraws {
    file: Append,
    /// Written before the first block.
    head: Vec<u8>,
    rows: Vec<u8>,
    bytes_per_block: usize,
}

impl NativeDraws {
    /// Draws go to the file at `path`, which is made when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: Append::new(path.into()), head: Vec::new(), rows: Vec::new(), bytes_per_block: 0 }
    }

    fn put(&mut self) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.head);
        if !self.rows.is_empty() {
            bytes.extend(record(DRAW, &self.rows));
            self.rows.clear();
        }
        if bytes.is_empty() { Ok(()) } else { self.file.write(&bytes, &[]) }
    }
}

impl Sink for NativeDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.file.begin()?;
        let numbers = 3 + schema.stats.len() + schema.layout.value_count();
        self.bytes_per_block = numbers.saturating_mul(8).saturating_mul(draws_per_block(numbers));
        if !fits(self.bytes_per_block) {
            return Err(failed(self.file.path(), format!("a draw of {numbers} numbers is larger than a record")));
        }
        self.head = start();
        self.head.extend(encoded(HEAD, schema).map_err(|error| failed(self.file.path(), error))?);
        self.rows.clear();
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        push(&mut self.rows, draw);
        if self.rows.len() >= self.bytes_per_block { self.put() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.put()?;
        self.file.sync()
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.path().to_path_buf()]
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.file.end().to_le_bytes().to_vec())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let place = saved.try_into().map(u64::from_le_bytes);
        let place = place.map_err(|_| Error::Checkpoint { reason: "it has no place in the file of draws".into() })?;
        if place > 0 {
            self.head.clear();
        }
        self.file.restore(place)
    }

    fn finish(mut self) -> PathBuf {
        // Whatever could not be written was reported when it was recorded or flushed.
        let _ = self.flush();
        self.file.path().to_path_buf()
    }
}

/// Writes a whole fit to one file, replaced all or nothing.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> crate::Result<()> {
    let path = path.as_ref();
    crate::fits::write_file(path, |file| {
        file.write_all(&start())?;
        file.write_all(&encoded(PLAN, &Plan { chains: fit.chains().len() })?)?;
        for (number, chain) in fit.chains().iter().enumerate() {
            write_chain(file, fit, number, chain)?;
        }
        let ends = Ends { endings: fit.endings().to_vec(), mode: fit.mode().cloned(), info: fit.info().clone() };
        file.write_all(&encoded(ENDS, &ends)?)
    })
}

fn write_chain(file: &mut impl Write, fit: &Fit, number: usize, chain: &ChainDraws) -> io::Result<()> {
    let stats = chain.stat_names().to_vec();
    let schema = Schema { layout: fit.layout().clone(), draws: chain.len(), chain: number, stats };
    file.write_all(&encoded(HEAD, &schema)?)?;
    let mut rows = Vec::new();
    let limit = draws_per_block(3 + schema.stats.len() + chain.width());
    let mut waiting = 0;
    each_draw(chain, &schema.stats, |draw| {
        push(&mut rows, draw);
        waiting += 1;
        if waiting < limit {
            return Ok(());
        }
        waiting = 0;
        file.write_all(&record(DRAW, &std::mem::take(&mut rows)))
    })?;
    if rows.is_empty() { Ok(()) } else { file.write_all(&record(DRAW, &rows)) }
}

fn push(rows: &mut Vec<u8>, draw: &Draw<'_>) {
    rows.extend(draw.iteration.to_le_bytes());
    let numbers = [draw.weight, draw.log_posterior];
    numbers.iter().chain(draw.stats).chain(draw.values).for_each(|number| rows.extend(number.to_le_bytes()));
}

fn encoded<T: Serialize>(tag: [u8; 4], value: &T) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    ciborium::into_writer(value, &mut payload).map_err(other)?;
    if fits(payload.len()) { Ok(record(tag, &payload)) } else { Err(other("it has too many names")) }
}
