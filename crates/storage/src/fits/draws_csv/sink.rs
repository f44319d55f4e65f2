//! The streaming sink of the format.

use std::fmt::Write as _;
use std::path::PathBuf;

use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_gradient::text::csv_cell;
use sgmcmc_gradient::{Error, Result};

use super::FIRST_COLUMNS;
use crate::fits::append::Append;
use crate::fits::table::draws_per_block;

/// A sink that writes the draws of one chain to a [CSV file](crate::fits::draws_csv), one line per draw.
///
/// Lines are written in blocks of at most 1000. A killed run loses the block that is being filled, and nothing that was
/// flushed at a checkpoint. A run that is resumed from a checkpoint continues the file. Give each chain a file of its
/// own; [`fits::open`](crate::fits::open) reads one file, or a directory of files as the chains of one fit.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::{CsvDraws, fits};
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let path = std::env::temp_dir().join("sgmcmc-doc-draws.csv");
/// hmc(&model, &Dataset::none(), 0.5).sample_into(&zeros([2]), 20, |_| CsvDraws::new(&path))?;
/// let fit = fits::open(&path)?;
/// assert_eq!(fit.chains()[0].len(), 20);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct CsvDraws {
    file: Append,
    /// The header, until it is written. A chain without draws leaves the file unchanged.
    header: String,
    /// The lines of the current block.
    lines: String,
    /// The number of draws in the current block.
    pending: usize,
    /// The number of draws per block.
    block: usize,
}

impl CsvDraws {
    /// Creates a sink that writes to the file at `path`. The file is created when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: Append::new(path.into()), header: String::new(), lines: String::new(), pending: 0, block: 1 }
    }

    /// Writes the header, if it is not written yet, and the current block.
    fn write_block(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.header) + &std::mem::take(&mut self.lines);
        self.pending = 0;
        if bytes.is_empty() { self.file.truncate() } else { self.file.write(bytes.as_bytes(), &[]) }
    }
}

impl Sink for CsvDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.file.begin()?;
        let names = schema.stats.iter().cloned().chain(schema.layout.value_names());
        self.header = FIRST_COLUMNS.join(",");
        for name in names {
            self.header.push(',');
            self.header.push_str(&csv_cell(&name));
        }
        self.header.push('\n');
        self.block = draws_per_block(FIRST_COLUMNS.len() + schema.stats.len() + schema.layout.value_count());
        self.lines.clear();
        self.pending = 0;
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        // Writing to a string cannot fail.
        let _ = write!(self.lines, "{},{},{}", draw.iteration, draw.weight, draw.log_posterior);
        for number in draw.stats.iter().chain(draw.values) {
            let _ = write!(self.lines, ",{number}");
        }
        self.lines.push('\n');
        self.pending += 1;
        if self.pending >= self.block { self.write_block() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.write_block()?;
        // A checkpoint that counts these draws must not reach the disk before they do.
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
            self.header.clear();
        }
        self.file.restore(end)
    }

    fn finish(mut self) -> PathBuf {
        // A chain without draws leaves the file unchanged. Errors were reported when the draws were recorded or
        // flushed.
        if !self.lines.is_empty() {
            let _ = self.flush();
        }
        self.file.path().to_path_buf()
    }
}
