//! Draws to a text file as they are made, one line each.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;

use sgmcmc_core::{Error, Result};
use sgmcmc_files::File;
use sgmcmc_samplers::sink::{Draw, Schema, Sink};

use crate::fits::claim;

/// Writes every draw as a line of comma-separated values, under a header with the names of the values.
///
/// The columns are `iteration`, `weight`, `log_posterior`, the numbers that come with each draw (`alpha`, thermostats), and the values;
/// names with a comma are quoted. Numbers are written so that they read back exactly. With checkpoints the file goes on where the
/// saved chain was.
#[derive(Debug)]
pub struct CsvDraws {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    /// The first line, until it is written. A chain that does not come to a draw leaves the file as it was.
    header: String,
    /// Bytes written so far.
    written: u64,
    /// Whether what an earlier run left behind this place has been cut off.
    clean: bool,
}

impl CsvDraws {
    /// Draws go to the file at `path`, which is made when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), file: None, header: String::new(), written: 0, clean: false }
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::Sink { reason: format!("could not write draws to `{}`: {error}", self.path.display()) }
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        match file.write_all(line.as_bytes()) {
            Ok(()) => {
                self.written += line.len() as u64;
                Ok(())
            }
            Err(error) => Err(self.failed(&error)),
        }
    }
}

impl Sink for CsvDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        // Not truncated yet: a chain that is resumed goes on in the same file.
        let opened = File::open(&self.path).and_then(claim);
        self.file = Some(BufWriter::new(opened.map_err(|error| self.failed(&error))?));
        (self.written, self.clean) = (0, false);
        let mut header = String::from("iteration,weight,log_posterior");
        for name in schema.stats.iter().cloned().chain(schema.layout.elements()) {
            header.push(',');
            header.push_str(&if name.contains(',') { format!("\"{name}\"") } else { name });
        }
        header.push('\n');
        self.header = header;
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        if !self.clean {
            self.flush()?;
            self.clean = true;
        }
        let mut line = format!("{},{},{}", draw.iteration, draw.weight, draw.log_posterior);
        draw.stats.iter().chain(draw.values).for_each(|value| {
            line.push(',');
            line.push_str(&value.to_string());
        });
        line.push('\n');
        self.write(&line)
    }

    fn flush(&mut self) -> Result<()> {
        let header = std::mem::take(&mut self.header);
        self.write(&header)?;
        let written = self.written;
        let flushed = self.file.as_mut().map_or(Ok(()), |file| {
            file.flush()?;
            let length = file.get_ref().len()?;
            // What an earlier run left behind this place is not of this chain.
            if length > written {
                file.get_ref().set_len(written)?;
            }
            // A checkpoint that counts these draws must not be on the disk before they are.
            file.get_ref().sync_data()
        });
        flushed.map_err(|error| self.failed(&error))
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.written.to_le_bytes().to_vec())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let place = saved.try_into().map(u64::from_le_bytes);
        let place = place.map_err(|_| Error::Checkpoint { reason: "it has no place in the file of draws".into() })?;
        let moved = self.file.as_mut().map_or(Ok(0), |file| {
            file.flush()?;
            let length = file.get_ref().len()?;
            if length < place {
                return Err(io::Error::other(format!("it has {length} bytes, but the checkpoint was made at {place}")));
            }
            file.seek(SeekFrom::Start(place))
        });
        moved.map_err(|error| self.failed(&error))?;
        (self.written, self.clean) = (place, false);
        self.header.clear();
        Ok(())
    }

    fn finish(mut self) -> PathBuf {
        // What is still buffered is written when the file is dropped. Nothing is cut off: a chain that did not start leaves the draws
        // that were there before it.
        std::mem::take(&mut self.path)
    }
}
