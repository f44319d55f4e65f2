//! The writers of the native format.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_fit::{ChainDraws, Fit};
use sgmcmc_gradient::{Error, Result};

use super::record::{file_header, fits_record, record};
use super::{DRAW, ENDS, Ends, HEAD, PLAN, Plan};
use crate::fits::append::{Append, failed, io_error};
use crate::fits::table::{draws_per_block, each_draw};

/// A sink that writes the draws of one chain to a file, in blocks of about a quarter of a megabyte.
///
/// A killed run loses the block that is being filled: at most 1000 draws, and none that were flushed at a checkpoint. A
/// run that is resumed from a checkpoint continues the file. Give the chains of a run files in one directory,
/// `chain-0.sgmcmc` and so on. The directory is then read as one fit.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::{self, native::NativeDraws};
///
/// let directory = std::env::temp_dir().join("sgmcmc-doc-native");
/// std::fs::create_dir_all(&directory)?;
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let file = |chain: usize| NativeDraws::new(directory.join(format!("chain-{chain}.sgmcmc")));
/// hmc(&model, &Dataset::none(), 0.5).chains(2).sample_into(&zeros([2]), 20, file)?;
/// assert_eq!(fits::open(&directory)?.chains().len(), 2);
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct NativeDraws {
    file: Append,
    /// The bytes before the first block, until they are written.
    head: Vec<u8>,
    /// The draws of the current block.
    rows: Vec<u8>,
    bytes_per_block: usize,
}

impl NativeDraws {
    /// Creates a sink that writes to the file at `path`. The file is created when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: Append::new(path.into()), head: Vec::new(), rows: Vec::new(), bytes_per_block: 0 }
    }

    /// Writes the current block.
    fn write_block(&mut self) -> Result<()> {
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
        if !fits_record(self.bytes_per_block) {
            return Err(failed(self.file.path(), format!("a draw of {numbers} numbers is larger than a record")));
        }
        self.head = file_header();
        self.head.extend(encode(HEAD, schema).map_err(|error| failed(self.file.path(), error))?);
        self.rows.clear();
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        push(&mut self.rows, draw);
        if self.rows.len() >= self.bytes_per_block { self.write_block() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.write_block()?;
        self.file.sync()
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.path().to_path_buf()]
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.file.end().to_le_bytes().to_vec())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let end = saved.try_into().map(u64::from_le_bytes);
        let end = end.map_err(|_| Error::Checkpoint { reason: "it has no position in the file of draws".into() })?;
        if end > 0 {
            self.head.clear();
        }
        self.file.restore(end)
    }

    fn finish(mut self) -> PathBuf {
        // Errors were reported when the draws were recorded or flushed.
        let _ = self.flush();
        self.file.path().to_path_buf()
    }
}

/// Writes a whole fit to one file. An existing file is replaced atomically.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::native;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-native.sgmcmc");
/// native::write(&fit, &path)?;
/// assert_eq!(native::read(&path)?, fit);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> crate::Result<()> {
    let path = path.as_ref();
    crate::fits::write_file(path, |file| {
        file.write_all(&file_header())?;
        file.write_all(&encode(PLAN, &Plan { chains: fit.chains().len() })?)?;
        for (number, chain) in fit.chains().iter().enumerate() {
            write_chain(file, fit, number, chain)?;
        }
        let ends = Ends { endings: fit.outcomes().to_vec(), mode: fit.mode().cloned(), info: fit.info().clone() };
        file.write_all(&encode(ENDS, &ends)?)
    })
}

fn write_chain(file: &mut impl Write, fit: &Fit, number: usize, chain: &ChainDraws) -> io::Result<()> {
    let stats = chain.stat_names().to_vec();
    let schema = Schema { layout: fit.layout().clone(), draws: chain.len(), chain: number, stats };
    file.write_all(&encode(HEAD, &schema)?)?;
    let mut rows = Vec::new();
    let limit = draws_per_block(3 + schema.stats.len() + chain.width());
    let mut pending = 0;
    each_draw(chain, &schema.stats, |draw| {
        push(&mut rows, draw);
        pending += 1;
        if pending < limit {
            return Ok(());
        }
        pending = 0;
        file.write_all(&record(DRAW, &std::mem::take(&mut rows)))
    })?;
    if rows.is_empty() { Ok(()) } else { file.write_all(&record(DRAW, &rows)) }
}

/// Appends the bytes of a draw.
fn push(rows: &mut Vec<u8>, draw: &Draw<'_>) {
    rows.extend(draw.iteration.to_le_bytes());
    let numbers = [draw.weight, draw.log_posterior];
    numbers.iter().chain(draw.stats).chain(draw.values).for_each(|number| rows.extend(number.to_le_bytes()));
}

/// Encodes a value as a record.
fn encode<T: Serialize>(tag: [u8; 4], value: &T) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    ciborium::into_writer(value, &mut payload).map_err(io_error)?;
    if fits_record(payload.len()) { Ok(record(tag, &payload)) } else { Err(io_error("it has too many names")) }
}
