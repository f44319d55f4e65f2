//! The sink of one chain.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_gradient::{Error, Result};

use super::array::chunk_key;
use super::schema::{Array, FIRST, arrays};
use super::store::{Files, Store};
use crate::fits::append::{failed, io_error};
use crate::fits::extra::Extra;
use crate::fits::table::draws_per_block;

/// A sink that writes the draws of one chain to the store of its [`ZarrFit`](super::ZarrFit).
///
/// A chunk has about a quarter of a megabyte over all arrays, and at most 1000 draws. A killed run loses the chunk that
/// is being filled, and nothing that was flushed at a checkpoint. A run that is resumed from a checkpoint continues the
/// arrays.
///
/// # Examples
///
/// See [`ZarrFit`](super::ZarrFit).
#[derive(Debug)]
pub struct ZarrDraws {
    path: PathBuf,
    store: Arc<Mutex<Store>>,
    files: Option<Arc<Files>>,
    chain: usize,
    arrays: Vec<Array>,
    /// The number of draws per chunk.
    block: usize,
    /// The number of draws per chunk, if it does not depend on their size.
    given_block: Option<usize>,
    /// The number of floats per draw.
    width: usize,
    /// The number of draws in whole chunks.
    before: u64,
    /// The iterations in the current chunk.
    iterations: Vec<u64>,
    /// The other numbers in the current chunk, in row-major order.
    rows: Vec<f64>,
    /// True if the later chunks of an earlier run have been removed.
    cleaned: bool,
    /// True if the current chunk exists in the store.
    restored: bool,
    /// True if all recorded draws are in the store.
    written: bool,
}

impl ZarrDraws {
    pub(super) fn new(path: PathBuf, store: Arc<Mutex<Store>>) -> Self {
        Self {
            path,
            store,
            files: None,
            chain: 0,
            arrays: Vec::new(),
            block: 1,
            given_block: None,
            width: 0,
            before: 0,
            iterations: Vec::new(),
            rows: Vec::new(),
            cleaned: false,
            restored: false,
            written: false,
        }
    }

    /// Sets the number of draws per chunk.
    pub(super) fn with_block(self, block: usize) -> Self {
        Self { given_block: Some(block), ..self }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the current chunk and updates the metadata of the store.
    fn write_chunk(&mut self) -> Result<()> {
        let Some(files) = self.files.as_deref() else { return Ok(()) };
        let chunk = self.before / self.block as u64;
        // A draw exists if its iteration exists. Iterations are therefore removed first and written last.
        let (iterations, others): (Vec<&Array>, Vec<&Array>) = self.arrays.iter().partition(|array| array.is_integer());
        if !self.cleaned {
            // Later chunks of an earlier run do not belong to this chain. The current chunk of a restored chain is
            // overwritten.
            let first = chunk + u64::from(self.restored);
            for array in iterations.iter().chain(&others) {
                files.remove_chunks(array, self.chain, first).map_err(|error| failed(&self.path, error))?;
            }
        }
        if !self.iterations.is_empty() {
            for array in others.iter().chain(&iterations) {
                self.write_array_chunk(files, array, chunk)
                    .map_err(|error| failed(&self.path.join(array.path()), error))?;
            }
        }
        self.cleaned = true;
        let draws = self.before + self.iterations.len() as u64;
        self.store().extend(self.chain, draws)?;
        if self.iterations.len() >= self.block {
            self.before = draws;
            self.iterations.clear();
            self.rows.clear();
        }
        self.written = true;
        Ok(())
    }

    /// Writes the current chunk of one array.
    fn write_array_chunk(&self, files: &Files, array: &Array, chunk: u64) -> std::io::Result<()> {
        let mut index = vec![0; 2 + array.shape.len()];
        (index[0], index[1]) = (self.chain as u64, chunk);
        let bytes: Vec<u8> = if array.is_integer() {
            let missing = std::iter::repeat_n(0, self.block - self.iterations.len());
            self.iterations.iter().copied().chain(missing).flat_map(u64::to_le_bytes).collect()
        } else {
            // The rows do not include the iteration.
            let columns = array.offset - 1..array.offset - 1 + array.width();
            let rows = self.rows.chunks_exact(self.width);
            let numbers = rows.flat_map(|row| &row[columns.clone()]).copied();
            let missing = std::iter::repeat_n(f64::NAN, (self.block - self.iterations.len()) * array.width());
            numbers.chain(missing).flat_map(f64::to_le_bytes).collect()
        };
        files.replace(&chunk_key(&array.path(), &index), &bytes)
    }
}

impl Sink for ZarrDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.arrays = arrays(&schema.layout, &schema.stats);
        self.width = FIRST.len() - 1 + schema.stats.len() + schema.layout.value_count();
        self.block = self.given_block.unwrap_or_else(|| draws_per_block(self.width));
        self.chain = schema.chain;
        (self.before, self.cleaned, self.restored, self.written) = (0, false, false, false);
        self.iterations.clear();
        self.rows.clear();
        let extra = Extra::from_schema(schema, None);
        let (arrays, block) = (self.arrays.clone(), self.block as u64);
        let mut store = self.store();
        store.begin(extra, arrays, block);
        let files = Arc::clone(&store.files);
        drop(store);
        self.files = Some(files);
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.iterations.push(draw.iteration);
        self.rows.extend([draw.weight, draw.log_posterior]);
        self.rows.extend(draw.stats);
        self.rows.extend(draw.values);
        self.written = false;
        if self.iterations.len() >= self.block { self.write_chunk() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if !self.written {
            self.write_chunk()?;
        }
        self.files.as_ref().map_or(Ok(()), |files| files.sync()).map_err(|error| failed(&self.path, error))
    }

    fn save(&self) -> Result<Vec<u8>> {
        let whole = [self.before].into_iter().chain(self.iterations.iter().copied());
        let words = whole.chain(self.rows.iter().map(|number| number.to_bits()));
        Ok(words.flat_map(u64::to_le_bytes).collect())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (words, rest) = saved.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let Some((before, words)) = words.split_first() else {
            return Err(Error::Checkpoint { reason: "it has no position in the Zarr store".into() });
        };
        let draws = words.len() / (1 + self.width);
        if !rest.is_empty() || draws * (1 + self.width) != words.len() || before % self.block as u64 != 0 {
            let reason = format!("it does not match the parameters of the Zarr store `{}`", self.path.display());
            return Err(Error::Checkpoint { reason });
        }
        let last = (before / self.block as u64).checked_sub(1);
        let iterations = self.arrays.iter().find(|array| array.is_integer());
        if let (Some(last), Some(array), Some(files)) = (last, iterations, &self.files)
            && !files.has_chunk(array, self.chain, last)
        {
            let reason = format!("the checkpoint was made after {before} draws, which are missing");
            return Err(failed(&self.path, io_error(reason)));
        }
        self.before = *before;
        self.iterations = words[..draws].to_vec();
        self.rows = words[draws..].iter().map(|word| f64::from_bits(*word)).collect();
        (self.cleaned, self.restored) = (false, draws > 0);
        Ok(())
    }

    fn finish(mut self) -> PathBuf {
        // Errors were reported when the draws were recorded or flushed.
        let _ = self.flush();
        std::mem::take(&mut self.path)
    }
}
