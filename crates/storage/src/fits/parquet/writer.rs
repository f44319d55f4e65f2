//! The writers of Parquet files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result as Written};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use sgmcmc_fit::Fit;
use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_gradient::{Error, Result};

use super::begun_name;
use crate::fits::append::{failed, lock};
use crate::fits::draws_table::{INTEGERS, OWN, Rows, column_names};
use crate::fits::extra::Extra;
use crate::fits::table::{draws_per_block, each_draw, stat_names};
use crate::output::{self, File};

/// Writes the rows as a row group and removes them.
fn write_group<W: Write + Send>(rows: &mut Rows, file: &mut SerializedFileWriter<W>) -> Written<()> {
    let mut group = file.next_row_group()?;
    let mut integers = [&mut rows.chains, &mut rows.draws, &mut rows.iterations].into_iter();
    let mut numbers = rows.numbers.iter_mut();
    while let Some(mut column) = group.next_column()? {
        if let Some(values) = integers.next() {
            column.typed::<Int64Type>().write_batch(values, None, None)?;
            values.clear();
        } else if let Some(values) = numbers.next() {
            column.typed::<DoubleType>().write_batch(values, None, None)?;
            values.clear();
        }
        column.close()?;
    }
    group.close()?;
    Ok(())
}

/// Returns the schema of the table.
fn table(extra: &Extra) -> Written<TypePtr> {
    let columns = column_names(extra).into_iter().enumerate().map(|(number, name)| {
        let physical = if number < INTEGERS { Physical::INT64 } else { Physical::DOUBLE };
        Ok(Arc::new(Type::primitive_type_builder(&name, physical).with_repetition(Repetition::REQUIRED).build()?))
    });
    let columns = columns.collect::<Written<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("draws").with_fields(columns).build()?))
}

/// Starts a file with the metadata of this library.
fn begin<W: Write + Send>(file: W, extra: &Extra) -> Written<SerializedFileWriter<W>> {
    let own = KeyValue { key: OWN.into(), value: Some(extra.to_json()) };
    let properties = WriterProperties::builder()
        // A dictionary does not help, because draws are rarely repeated.
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![own]))
        .build();
    SerializedFileWriter::new(file, table(extra)?, Arc::new(properties))
}

/// A sink that writes the draws of one chain to parts in a directory. The chains of a run share the directory.
///
/// A killed run loses the part that is being filled: at most 1000 draws or the number of [`every`](Self::every), and
/// none that were flushed at a checkpoint. A run that is resumed from a checkpoint replaces the later parts.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::{self, parquet::ParquetDraws};
///
/// let directory = std::env::temp_dir().join("sgmcmc-doc-run.parquet");
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// hmc(&model, &Dataset::none(), 0.5)
///     .chains(2)
///     .sample_into(&zeros([2]), 20, |_| ParquetDraws::new(&directory).every(10))?;
/// assert_eq!(fits::open(&directory)?.chains().len(), 2);
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct ParquetDraws {
    directory: PathBuf,
    /// The number of draws per part, if it is set.
    every: Option<usize>,
    chain: usize,
    extra: Option<Extra>,
    rows: Rows,
    /// The number of draws per part.
    limit: usize,
    /// The number of parts and of draws written so far.
    written: [u64; 2],
    /// True if the parts of an earlier run have been removed.
    cleaned: bool,
    /// The lock of the parts of the chain.
    lock: Option<File>,
}

impl ParquetDraws {
    /// Creates a sink that writes to the directory at `path`. The directory is created when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            directory: path.into(),
            every: None,
            chain: 0,
            extra: None,
            rows: Rows::default(),
            limit: 1,
            written: [0; 2],
            cleaned: false,
            lock: None,
        }
    }

    /// Sets the number of draws per part.
    #[must_use]
    pub fn every(self, draws: usize) -> Self {
        Self { every: Some(draws.max(1)), ..self }
    }

    /// Returns the path of a part.
    fn part(&self, number: u64) -> PathBuf {
        self.directory.join(format!("chain-{}-part-{number:06}.parquet", self.chain))
    }

    /// Writes the pending rows as a part.
    fn write_part(&mut self) -> Result<()> {
        if self.rows.len() == 0 {
            return Ok(());
        }
        self.remove_later_parts()?;
        let Some(extra) = &self.extra else { return Ok(()) };
        let path = self.part(self.written[0]);
        let draws = self.rows.len() as u64;
        let rows = &mut self.rows;
        let written = output::write_atomically(&path, |file| {
            let write = begin(file, extra).and_then(|mut file| {
                write_group(rows, &mut file)?;
                file.close().map(|_| ())
            });
            write.map_err(io_error)
        });
        written.map_err(|error| failed(&path, error))?;
        self.written = [self.written[0] + 1, self.written[1] + draws];
        Ok(())
    }

    /// Removes the later parts of an earlier run.
    fn remove_later_parts(&mut self) -> Result<()> {
        let mut number = self.written[0];
        while !self.cleaned {
            match output::remove_file(self.part(number)) {
                Ok(()) => number += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.cleaned = true,
                Err(error) => return Err(failed(&self.part(number), error)),
            }
        }
        Ok(())
    }
}

/// Writes the number of draws that a chain is to make, and locks the parts of the chain until the file is closed.
fn begin_chain(directory: &Path, begun: &Path, draws: usize) -> io::Result<File> {
    let mut file = lock(File::open(begun)?)?;
    file.set_len(0)?;
    file.write_all(draws.to_string().as_bytes())?;
    file.sync_all()?;
    output::sync_directory(directory)?;
    Ok(file)
}

impl Sink for ParquetDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        output::create_dir_all(&self.directory).map_err(|error| failed(&self.directory, error))?;
        let numbers = schema.stats.len() + schema.layout.value_count();
        (self.chain, self.rows, self.written, self.cleaned) = (schema.chain, Rows::new(numbers), [0; 2], false);
        self.limit = self.every.unwrap_or_else(|| draws_per_block(numbers));
        self.extra = Some(Extra::from_schema(schema, None));
        // Readers of directories skip names that start with a dot.
        let begun = self.directory.join(begun_name(self.chain));
        let draws = schema.draws;
        self.lock = None;
        self.lock = Some(begin_chain(&self.directory, &begun, draws).map_err(|error| failed(&begun, error))?);
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        let number = self.written[1] as usize + self.rows.len();
        self.rows.push(self.chain, number, draw);
        if self.rows.len() >= self.limit { self.write_part() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.write_part()?;
        self.remove_later_parts()
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.written.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let ([parts, draws], []) = saved.as_chunks::<8>() else {
            return Err(Error::Checkpoint { reason: "it has no position among the parts of the draws".into() });
        };
        self.written = [u64::from_le_bytes(*parts), u64::from_le_bytes(*draws)];
        self.cleaned = false;
        match self.written[0].checked_sub(1).map(|last| self.part(last)) {
            Some(last) if !last.exists() => {
                Err(failed(&last, io::Error::other("the checkpoint was made after it, but it is not there")))
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> PathBuf {
        // Errors were reported when the draws were recorded or flushed.
        let _ = self.flush();
        std::mem::take(&mut self.directory)
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
/// use sgmcmc::storage::fits::parquet;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-write.parquet");
/// parquet::write(&fit, &path)?;
/// assert_eq!(parquet::read(&path)?.chains(), fit.chains());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> crate::Result<()> {
    crate::fits::write_file(path.as_ref(), |file| write_to(fit, file).map_err(io_error))
}

/// Converts an error of the encoder to an I/O error. The kind of an I/O error is kept.
fn io_error(error: ParquetError) -> io::Error {
    let kind = match &error {
        ParquetError::External(source) => source.downcast_ref().map(io::Error::kind),
        _ => None,
    };
    io::Error::new(kind.unwrap_or(io::ErrorKind::Other), error.to_string())
}

fn write_to<W: Write + Send>(fit: &Fit, file: W) -> Written<()> {
    let stats = stat_names(fit);
    let mut rows = Rows::new(stats.len() + fit.layout().value_count());
    let mut file = begin(file, &Extra::from_fit(fit))?;
    let limit = draws_per_block(rows.numbers.len()) * 10;
    for (number, chain) in fit.chains().iter().enumerate() {
        let mut index = 0;
        each_draw(chain, &stats, |draw| {
            rows.push(number, index, draw);
            index += 1;
            if rows.len() >= limit { write_group(&mut rows, &mut file) } else { Ok(()) }
        })?;
    }
    if rows.len() > 0 {
        write_group(&mut rows, &mut file)?;
    }
    file.close().map(|_| ())
}
