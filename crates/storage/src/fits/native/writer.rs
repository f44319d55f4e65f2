//! The writers of the native format.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_fit::{ChainDraws, Fit, Variable};
use sgmcmc_gradient::Result;

use super::record::{file_header, fits_record, record};
use super::{DRAW, ENDS, Ends, HEAD, PLAN, Plan, VARS, VariablePart};
use crate::fits::append::{failed, io_error};
use crate::fits::chain_file::ChainFile;
use crate::fits::table::{draws_per_block, each_draw};

/// The largest number of numbers in a record of an array.
const VARIABLE_PART: usize = 1 << 20;

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
    file: ChainFile,
}

impl NativeDraws {
    /// Creates a sink that writes to the file at `path`. The file is created when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: ChainFile::new(path.into()) }
    }

    /// Writes the current block as a record.
    fn write_block(&mut self) -> Result<()> {
        let rows = self.file.block();
        if !rows.is_empty() {
            *rows = record(DRAW, rows);
        }
        self.file.write_block(&[])?;
        Ok(())
    }
}

impl Sink for NativeDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        let numbers = 3 + schema.stats.len() + schema.layout.value_count();
        if !fits_record(numbers.saturating_mul(8).saturating_mul(draws_per_block(numbers))) {
            let reason = format!("a draw of {numbers} numbers is larger than a record");
            return Err(failed(self.file.path(), io_error(reason)));
        }
        let mut header = file_header();
        header.extend(encode(HEAD, schema).map_err(|error| failed(self.file.path(), error))?);
        self.file.begin(header, numbers)
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        push(self.file.block(), draw);
        if self.file.count_draw() { self.write_block() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.write_block()?;
        self.file.sync()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.file.files()
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.file.save())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.file.restore(saved)
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
        for group in fit.groups() {
            group.variables.iter().try_for_each(|variable| write_variable(file, &group.name, variable))?;
        }
        let ends = Ends { outcomes: fit.outcomes().to_vec(), mode: fit.mode().cloned(), info: fit.info().clone() };
        file.write_all(&encode(ENDS, &ends)?)
    })
}

fn write_chain(file: &mut impl Write, fit: &Fit, number: usize, chain: &ChainDraws) -> io::Result<()> {
    let (stats, chains) = (chain.stat_names().to_vec(), fit.chains().len());
    let schema = Schema { layout: fit.layout().clone(), draws: chain.len(), chain: number, chains, stats };
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

/// Writes an array in records of at most [`VARIABLE_PART`] numbers.
fn write_variable(file: &mut impl Write, group: &str, variable: &Variable) -> io::Result<()> {
    let Variable { name, dimensions, shape, values } = variable;
    let mut first = 0;
    loop {
        let part = &values[first..values.len().min(first + VARIABLE_PART)];
        let (group, name) = (group.to_owned(), name.clone());
        let header = VariablePart { group, name, dimensions: dimensions.clone(), shape: shape.clone(), first };
        let mut head = Vec::new();
        ciborium::into_writer(&header, &mut head).map_err(io_error)?;
        let length = u32::try_from(head.len()).map_err(io_error)?;
        let mut payload = length.to_le_bytes().to_vec();
        payload.extend(head);
        payload.extend(part.iter().flat_map(|number| number.to_le_bytes()));
        file.write_all(&record(VARS, &payload))?;
        first += part.len();
        if first >= values.len() {
            return Ok(());
        }
    }
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
