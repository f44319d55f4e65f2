//! The writer of Arrow IPC files.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use sgmcmc_fit::Fit;

use crate::fits::draws_table::{INTEGERS, OWN, Rows, column_names};
use crate::fits::extra::Extra;
use crate::fits::table::{draws_per_block, each_draw, stat_names};

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
/// use sgmcmc::storage::fits::arrow;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-write.arrow");
/// arrow::write(&fit, &path)?;
/// assert_eq!(arrow::read(&path)?.chains(), fit.chains());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> crate::Result<()> {
    crate::fits::write_file(path.as_ref(), |file| write_to(fit, file).map_err(io_error))
}

/// Converts an error of the encoder to an I/O error. The kind of an I/O error is kept.
fn io_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, source) => source,
        other => io::Error::other(other.to_string()),
    }
}

fn write_to<W: Write>(fit: &Fit, file: W) -> Result<(), ArrowError> {
    let extra = Extra::from_fit(fit);
    let schema = Arc::new(schema(&extra));
    let mut file = FileWriter::try_new(file, &schema)?;
    let stats = stat_names(fit);
    let mut rows = Rows::new(stats.len() + fit.layout().value_count());
    let limit = draws_per_block(rows.numbers.len()) * 10;
    for (number, chain) in fit.chains().iter().enumerate() {
        let mut index = 0;
        each_draw(chain, &stats, |draw| {
            rows.push(number, index, draw);
            index += 1;
            if rows.len() >= limit { file.write(&batch(&schema, &mut rows)?) } else { Ok(()) }
        })?;
    }
    if rows.len() > 0 {
        file.write(&batch(&schema, &mut rows)?)?;
    }
    file.finish()
}

/// Returns the schema of the table, with the metadata of this library.
fn schema(extra: &Extra) -> Schema {
    let fields = column_names(extra).into_iter().enumerate().map(|(number, name)| {
        let data_type = if number < INTEGERS { DataType::Int64 } else { DataType::Float64 };
        Field::new(name, data_type, false)
    });
    let metadata = HashMap::from([(OWN.to_owned(), extra.to_json())]);
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata)
}

/// Returns the rows as a record batch and removes them.
fn batch(schema: &SchemaRef, rows: &mut Rows) -> Result<RecordBatch, ArrowError> {
    let integers = [&mut rows.chains, &mut rows.draws, &mut rows.iterations];
    let integers = integers.map(|column| Arc::new(Int64Array::from(std::mem::take(column))) as ArrayRef);
    let numbers = rows.numbers.iter_mut();
    let numbers = numbers.map(|column| Arc::new(Float64Array::from(std::mem::take(column))) as ArrayRef);
    RecordBatch::try_new(schema.clone(), integers.into_iter().chain(numbers).collect())
}
