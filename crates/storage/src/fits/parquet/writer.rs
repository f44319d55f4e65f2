//! Draws into Parquet.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::Result as Written;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use sgmcmc_core::{Error, Result};
use sgmcmc_samplers::run::Fit;
use sgmcmc_samplers::sink::{Draw, Schema, Sink};

use super::{FIRST, OWN, begun_name};
use crate::fits::append::{failed, other};
use crate::fits::extra::Extra;
use crate::fits::table::{draws_per_block, each_draw, stat_names, unique};
use crate::output;

/// Rows that wait to be written, column by column.
#[derive(Debug, Default)]
struct Rows {
    chains: Vec<i64>,
    draws: Vec<i64>,
    iterations: Vec<i64>,
    /// Weight, log posterior, sample statistics and values.
    numbers: Vec<Vec<f64>>,
}

impl Rows {
    fn new(numbers: usize) -> Self {
        Self { numbers: vec![Vec::new(); 2 + numbers], ..Self::default() }
    }

    fn push(&mut self, chain: usize, place: usize, draw: &Draw<'_>) {
        self.chains.push(chain as i64);
        self.draws.push(place as i64);
        self.iterations.push(draw.iteration as i64);
        let first = [draw.weight, draw.log_posterior];
        let row = first.iter().chain(draw.stats).chain(draw.values);
        self.numbers.iter_mut().zip(row).for_each(|(column, number)| column.push(*number));
    }

    fn len(&self) -> usize {
        self.chains.len()
    }

    /// Writes them as a row group, and forgets them.
    fn write<W: Write + Send>(&mut self, file: &mut SerializedFileWriter<W>) -> Written<()> {
        let mut group = file.next_row_group()?;
        let mut integers = [&mut self.chains, &mut self.draws, &mut self.iterations].into_iter();
        let mut numbers = self.numbers.iter_mut();
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
}

fn table(extra: &Extra) -> Written<TypePtr> {
    let elements = extra.layout.elements();
    let others = extra.stats.iter().chain(&elements).map(String::as_str);
    let named = unique(others, &FIRST);
    let columns = FIRST.into_iter().chain(named.iter().map(String::as_str)).enumerate().map(|(number, name)| {
        let physical = if number < 3 { Physical::INT64 } else { Physical::DOUBLE };
        Ok(Arc::new(Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED).build()?))
    });
    let columns = columns.collect::<Written<Vec<_>>>()?;
    Ok(Arc::new(Type::group_type_builder("draws").with_fields(columns).build()?))
}

fn begin<W: Write + Send>(file: W, extra: &Extra) -> Written<SerializedFileWriter<W>> {
    let own = KeyValue { key: OWN.into(), value: Some(extra.to_json()) };
    let properties = WriterProperties::builder()
        // Draws hardly ever come twice.
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![own]))
        .build();
    SerializedFileWriter::new(file, table(extra)?, Arc::new(properties))
}

/// Writes the draws of one chain to parts in a directory as they are made; the chains of a run share the directory.
///
/// What is lost when a run is killed is the part being filled: at most 1000 draws or what [`every`](Self::every) says, none at a
/// checkpoint. With checkpoints, parts after the saved place are replaced.
#[derive(Debug)]
pub struct ParquetDraws {
    directory: PathBuf,
    every: Option<usize>,
    chain: usize,
    extra: Option<Extra>,
    rows: Rows,
    limit: usize,
    /// Parts and draws written so far.
    written: [u64; 2],
    clean: bool,
}

impl ParquetDraws {
    /// Draws go to the directory at `path`, which is made when the chain begins.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            directory: path.into(),
            every: None,
            chain: 0,
            extra: None,
            rows: Rows::default(),
            limit: 1,
            written: [0; 2],
            clean: false,
        }
    }

    /// A part for every so many draws.
    #[must_use]
    pub fn every(self, draws: usize) -> Self {
        Self { every: Some(draws.max(1)), ..self }
    }

    fn part(&self, number: u64) -> PathBuf {
        self.directory.join(format!("chain-{}-part-{number:06}.parquet", self.chain))
    }

    fn put(&mut self) -> Result<()> {
        if self.rows.len() == 0 {
            return Ok(());
        }
        self.clean()?;
        let Some(extra) = &self.extra else { return Ok(()) };
        let path = self.part(self.written[0]);
        let draws = self.rows.len() as u64;
        let rows = &mut self.rows;
        let written = output::write_atomically(&path, |file| {
            let write = begin(file, extra).and_then(|mut file| {
                rows.write(&mut file)?;
                file.close().map(|_| ())
            });
            write.map_err(other)
        });
        written.map_err(|error| failed(&path, error))?;
        self.written = [self.written[0] + 1, self.written[1] + draws];
        Ok(())
    }

    /// Removes the parts that an earlier run left behind this place.
    fn clean(&mut self) -> Result<()> {
        let mut number = self.written[0];
        while !self.clean {
            match output::remove_file(self.part(number)) {
                Ok(()) => number += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.clean = true,
                Err(error) => return Err(failed(&self.part(number), error)),
            }
        }
        Ok(())
    }
}

impl Sink for ParquetDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        output::create_dir_all(&self.directory).map_err(|error| failed(&self.directory, error))?;
        let numbers = schema.stats.len() + schema.layout.value_count();
        (self.chain, self.rows, self.written, self.clean) = (schema.chain, Rows::new(numbers), [0; 2], false);
        self.limit = self.every.unwrap_or_else(|| draws_per_block(numbers));
        self.extra = Some(Extra::streamed(schema, None));
        // Readers of directories pass over names that start with a dot.
        let begun = self.directory.join(begun_name(self.chain));
        let written = output::write_atomically(&begun, |file| write!(file, "{}", schema.draws));
        written.map_err(|error| failed(&begun, error))
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        let place = self.written[1] as usize + self.rows.len();
        self.rows.push(self.chain, place, draw);
        if self.rows.len() >= self.limit { self.put() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.put()?;
        self.clean()
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.written.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let ([parts, draws], []) = saved.as_chunks::<8>() else {
            return Err(Error::Checkpoint { reason: "it has no place among the parts of the draws".into() });
        };
        self.written = [u64::from_le_bytes(*parts), u64::from_le_bytes(*draws)];
        self.clean = false;
        match self.written[0].checked_sub(1).map(|last| self.part(last)) {
            Some(last) if !last.exists() => Err(failed(&last, "the checkpoint was made after it, but it is not there")),
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> PathBuf {
        // Whatever could not be written was reported when it was recorded or flushed.
        let _ = self.flush();
        std::mem::take(&mut self.directory)
    }
}

/// Writes a whole fit to one file, replaced all or nothing.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> crate::Result<()> {
    crate::fits::write_file(path.as_ref(), |file| write_to(fit, file).map_err(other))
}

fn write_to<W: Write + Send>(fit: &Fit, file: W) -> Written<()> {
    let stats = stat_names(fit);
    let mut rows = Rows::new(stats.len() + fit.layout().value_count());
    let mut file = begin(file, &Extra::of(fit))?;
    let limit = draws_per_block(rows.numbers.len()) * 10;
    for (number, chain) in fit.chains().iter().enumerate() {
        let mut place = 0;
        each_draw(chain, &stats, |draw| {
            rows.push(number, place, draw);
            place += 1;
            if rows.len() >= limit { rows.write(&mut file) } else { Ok(()) }
        })?;
    }
    if rows.len() > 0 {
        rows.write(&mut file)?;
    }
    file.close().map(|_| ())
}
