//! The draws of one chain into the store.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sgmcmc_core::{Error, Result};
use sgmcmc_samplers::sink::{Draw, Schema, Sink};

use super::array::chunk_key;
use super::schema::{Array, FIRST, arrays};
use super::store::{Files, Store};
use crate::fits::append::failed;
use crate::fits::extra::Extra;
use crate::fits::table::draws_per_block;

/// Writes the draws of one chain to the store of its [`ZarrFit`](super::ZarrFit) as they are made.
///
/// A chunk has about a quarter of a megabyte over all arrays, at most 1000 draws. What is lost when a run is killed is the chunk
/// being filled, nothing at a checkpoint. With checkpoints the arrays go on where the saved chain was.
#[derive(Debug)]
pub struct ZarrDraws {
    path: PathBuf,
    store: Arc<Mutex<Store>>,
    files: Option<Arc<Files>>,
    chain: usize,
    arrays: Vec<Array>,
    /// Draws per chunk, and numbers per draw.
    block: usize,
    width: usize,
    /// Draws in whole chunks.
    before: u64,
    /// Iterations of the chunk being filled, and its other numbers, row by row.
    iterations: Vec<u64>,
    rows: Vec<f64>,
    clean: bool,
    /// Whether it goes on in a chunk that is there.
    restored: bool,
    /// Whether all that was taken is in the store.
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
            width: 0,
            before: 0,
            iterations: Vec::new(),
            rows: Vec::new(),
            clean: false,
            restored: false,
            written: false,
        }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the chunk as far as it is filled, and makes it visible.
    fn put(&mut self) -> Result<()> {
        let Some(files) = self.files.as_deref() else { return Ok(()) };
        let chunk = self.before / self.block as u64;
        // An iteration says that a draw is there: it is the first to go and the last to come.
        let (whole, others): (Vec<&Array>, Vec<&Array>) = self.arrays.iter().partition(|array| array.is_whole());
        if !self.clean {
            // What an earlier run left behind this place is not of this chain. The chunk a restored chain goes on in is replaced.
            let first = chunk + u64::from(self.restored);
            for array in whole.iter().chain(&others) {
                files.remove_chunks(array, self.chain, first).map_err(|error| failed(&self.path, error))?;
            }
        }
        if !self.iterations.is_empty() {
            for array in others.iter().chain(&whole) {
                self.put_chunk(files, array, chunk).map_err(|error| failed(&self.path.join(array.path()), error))?;
            }
        }
        self.clean = true;
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

    fn put_chunk(&self, files: &Files, array: &Array, chunk: u64) -> std::io::Result<()> {
        let mut place = vec![0; 2 + array.shape.len()];
        (place[0], place[1]) = (self.chain as u64, chunk);
        let bytes: Vec<u8> = if array.is_whole() {
            let missing = std::iter::repeat_n(0, self.block - self.iterations.len());
            self.iterations.iter().copied().chain(missing).flat_map(u64::to_le_bytes).collect()
        } else {
            // The iteration is not among the rows.
            let columns = array.offset - 1..array.offset - 1 + array.width();
            let rows = self.rows.chunks_exact(self.width);
            let numbers = rows.flat_map(|row| &row[columns.clone()]).copied();
            let missing = std::iter::repeat_n(f64::NAN, (self.block - self.iterations.len()) * array.width());
            numbers.chain(missing).flat_map(f64::to_le_bytes).collect()
        };
        files.put(&chunk_key(&array.path(), &place), &bytes)
    }
}

impl Sink for ZarrDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.arrays = arrays(&schema.layout, &schema.stats);
        self.width = FIRST.len() - 1 + schema.stats.len() + schema.layout.value_count();
        self.block = draws_per_block(self.width);
        self.chain = schema.chain;
        (self.before, self.clean, self.restored, self.written) = (0, false, false, false);
        self.iterations.clear();
        self.rows.clear();
        let extra = Extra::streamed(schema, None);
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
        if self.iterations.len() >= self.block { self.put() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.written { Ok(()) } else { self.put() }
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
            return Err(Error::Checkpoint { reason: "it has no place in the Zarr store".into() });
        };
        let draws = words.len() / (1 + self.width);
        if !rest.is_empty() || draws * (1 + self.width) != words.len() || before % self.block as u64 != 0 {
            let reason = format!("it is of no Zarr store with the parameters of `{}`", self.path.display());
            return Err(Error::Checkpoint { reason });
        }
        let last = (before / self.block as u64).checked_sub(1);
        let iterations = self.arrays.iter().find(|array| array.is_whole());
        if let (Some(last), Some(array), Some(files)) = (last, iterations, &self.files)
            && !files.has_chunk(array, self.chain, last)
        {
            return Err(failed(
                &self.path,
                format!("the checkpoint was made after {before} draws, which are not there"),
            ));
        }
        self.before = *before;
        self.iterations = words[..draws].to_vec();
        self.rows = words[draws..].iter().map(|word| f64::from_bits(*word)).collect();
        (self.clean, self.restored) = (false, draws > 0);
        Ok(())
    }

    fn finish(mut self) -> PathBuf {
        // Whatever could not be written was reported when it was recorded or flushed.
        let _ = self.flush();
        std::mem::take(&mut self.path)
    }
}
