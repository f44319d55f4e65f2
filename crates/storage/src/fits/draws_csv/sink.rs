//! The streaming sink of the format.

use std::io::Write as _;
use std::path::PathBuf;

use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_gradient::Result;
use sgmcmc_gradient::text::csv_cell;

use super::FIRST_COLUMNS;
use crate::fits::chain_file::ChainFile;

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
/// use sgmcmc::storage::fits::{self, draws_csv::CsvDraws};
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
    file: ChainFile,
}

impl CsvDraws {
    /// Creates a sink that writes to the file at `path`. The file is created when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: ChainFile::new(path.into()) }
    }
}

impl Sink for CsvDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        let names = schema.stats.iter().cloned().chain(schema.layout.value_names());
        let mut header = FIRST_COLUMNS.join(",");
        for name in names {
            header.push(',');
            header.push_str(&csv_cell(&name));
        }
        header.push('\n');
        let numbers = FIRST_COLUMNS.len() + schema.stats.len() + schema.layout.value_count();
        self.file.begin(header.into_bytes(), numbers)
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        let lines = self.file.block();
        // Writing to a vector cannot fail.
        let _ = write!(lines, "{},{},{}", draw.iteration, draw.weight, draw.log_posterior);
        for number in draw.stats.iter().chain(draw.values) {
            let _ = write!(lines, ",{number}");
        }
        lines.push(b'\n');
        if self.file.count_draw() {
            self.file.write_block(&[])?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if !self.file.write_block(&[])? {
            self.file.truncate()?;
        }
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
        // A chain without draws leaves the file unchanged. Errors were reported when the draws were recorded or
        // flushed.
        if !self.file.block().is_empty() {
            let _ = self.flush();
        }
        self.file.path().to_path_buf()
    }
}
