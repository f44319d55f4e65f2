//! The reader of Arrow IPC files, for files of this library and tables with the same names of columns.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, Footer, root_as_footer};
use arrow_schema::{ArrowError, DataType};
use sgmcmc_fit::Fit;

use crate::error::{Error, FilePosition, Problem, Result};
use crate::fits::draws_table::{DrawsTable, OWN};
use crate::fits::extra::Extra;
use crate::limit::{Budget, memory_limit};

/// The length and the magic number at the end of a file.
const END: u64 = 10;

/// Reads a file into a fit.
///
/// In tables of other programs, the columns `chain`, `draw`, `iteration`, `weight` and `lp` have the same meaning and
/// are optional. Every other column is a value. The columns must not be compressed.
///
/// # Errors
///
/// Returns an error with file and column if a file is not an Arrow IPC file or damaged, or if a column is compressed,
/// has null values, or does not have numbers.
///
/// # Examples
///
/// See [`write`](super::write).
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    read_within(path.as_ref(), memory_limit())
}

pub(in crate::fits) fn read_within(path: &Path, limit: u64) -> Result<Fit> {
    let mut file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
    let mut budget = Budget::new(limit);
    // The decoder may panic on a damaged file. The panic is converted to an error.
    let read = catch_unwind(AssertUnwindSafe(|| read_table(path, &mut file, &mut budget)));
    let table = read.unwrap_or_else(|_| Err(Error::file(path, corrupt("its blocks make no sense".into()))))?;
    table.into_fit(path)
}

/// Reads all record batches.
fn read_table(path: &Path, file: &mut File, budget: &mut Budget) -> Result<DrawsTable> {
    let whole = |problem| Error::file(path, problem);
    let length = file.seek(SeekFrom::End(0)).map_err(|error| whole(Problem::Io(error)))?;
    let footer = read_footer(file, length, budget).map_err(whole)?;
    let footer = root_as_footer(&footer).map_err(|error| whole(corrupt(error.to_string())))?;
    let Decoder { decoder, mut table } = decoder(&footer).map_err(whole)?;
    for block in footer.recordBatches().into_iter().flatten() {
        let content = read_block(file, block, length, budget).map_err(whole)?;
        let batch = decoder.read_record_batch(block, &content).map_err(|error| whole(problem(error)))?;
        let Some(batch) = batch else { continue };
        for ((name, column), values) in table.names.iter().zip(batch.columns()).zip(&mut table.columns) {
            append(column, values, budget)
                .map_err(|problem| Error::at_position(path, FilePosition::default().column(name.clone()), problem))?;
        }
    }
    table.check().map_err(whole)?;
    Ok(table)
}

/// Reads the footer, which has the schema and the positions of the record batches.
fn read_footer(file: &mut File, length: u64, budget: &mut Budget) -> Result<Vec<u8>, Problem> {
    let truncated = || Problem::Truncated { detail: "the footer is missing".into() };
    let start = length.checked_sub(END).ok_or_else(truncated)?;
    let mut end = [0; END as usize];
    read_at(file, start, &mut end)?;
    let bytes = read_footer_length(end).map_err(|_| truncated())? as u64;
    let first = start.checked_sub(bytes).ok_or_else(truncated)?;
    budget.take(bytes)?;
    let mut footer = vec![0; bytes as usize];
    read_at(file, first, &mut footer)?;
    Ok(footer)
}

/// The decoder of record batches and a table without rows.
struct Decoder {
    decoder: FileDecoder,
    table: DrawsTable,
}

/// Returns the decoder for the schema of a footer.
fn decoder(footer: &Footer<'_>) -> Result<Decoder, Problem> {
    let schema = footer.schema().ok_or_else(|| corrupt("there is no schema in it".into()))?;
    let schema = try_fb_to_schema(schema).map_err(problem)?;
    for field in schema.fields() {
        let is_number = field.data_type().is_integer()
            || matches!(field.data_type(), DataType::Float32 | DataType::Float64 | DataType::Boolean);
        if !is_number {
            let found = format!("the column `{}` of type {}", field.name(), field.data_type());
            return Err(Problem::WrongType { found, expected: "a number or a boolean per draw is expected" });
        }
    }
    let extra = schema.metadata().get(OWN).and_then(|text| Extra::from_json(text));
    let planned = extra.as_ref().map(|extra| extra.planned.clone()).unwrap_or_default();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let columns = vec![Vec::new(); names.len()];
    let decoder = FileDecoder::new(Arc::new(schema), footer.version());
    Ok(Decoder { decoder, table: DrawsTable { names, columns, extra, planned } })
}

/// Reads the bytes of a record batch, which must be inside of the file.
fn read_block(file: &mut File, block: &Block, length: u64, budget: &Budget) -> Result<Buffer, Problem> {
    let outside = || corrupt("a record batch is outside of the file".into());
    let parts = [i64::from(block.metaDataLength()), block.bodyLength(), block.offset()];
    let [metadata, body, offset] = parts.map(u64::try_from);
    let (Ok(metadata), Ok(body), Ok(offset)) = (metadata, body, offset) else { return Err(outside()) };
    let bytes = metadata.checked_add(body).ok_or_else(outside)?;
    if offset.checked_add(bytes).is_none_or(|end| end > length) {
        return Err(outside());
    }
    if bytes > budget.left() {
        return Err(budget.exceeded());
    }
    let mut content = vec![0; bytes as usize];
    read_at(file, offset, &mut content)?;
    Ok(Buffer::from_vec(content))
}

fn read_at(file: &mut File, offset: u64, into: &mut [u8]) -> Result<(), Problem> {
    file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(into)).map_err(Problem::Io)
}

/// Appends the numbers of a column.
fn append(column: &ArrayRef, values: &mut Vec<f64>, budget: &mut Budget) -> Result<(), Problem> {
    if column.null_count() > 0 {
        return Err(Problem::Missing { text: "null".into() });
    }
    budget.take_elements::<f64>(column.len() as u64)?;
    match column.data_type() {
        DataType::Float64 => extend::<Float64Type>(column, values, |value| value),
        DataType::Float32 => extend::<Float32Type>(column, values, f64::from),
        DataType::Int64 => extend::<Int64Type>(column, values, |value| value as f64),
        DataType::Int32 => extend::<Int32Type>(column, values, f64::from),
        DataType::Int16 => extend::<Int16Type>(column, values, f64::from),
        DataType::Int8 => extend::<Int8Type>(column, values, f64::from),
        DataType::UInt64 => extend::<UInt64Type>(column, values, |value| value as f64),
        DataType::UInt32 => extend::<UInt32Type>(column, values, f64::from),
        DataType::UInt16 => extend::<UInt16Type>(column, values, f64::from),
        DataType::UInt8 => extend::<UInt8Type>(column, values, f64::from),
        DataType::Boolean => values.extend(column.as_boolean().values().iter().map(f64::from)),
        other => return Err(corrupt(format!("a column has the type {other}"))),
    }
    Ok(())
}

fn extend<T: ArrowPrimitiveType>(column: &ArrayRef, values: &mut Vec<f64>, convert: fn(T::Native) -> f64) {
    values.extend(column.as_primitive::<T>().values().iter().map(|value| convert(*value)));
}

fn corrupt(detail: String) -> Problem {
    Problem::Corrupt { detail }
}

/// Converts an error of the decoder.
fn problem(error: ArrowError) -> Problem {
    let text = error.to_string();
    if text.contains("lz4") || text.contains("zstd") {
        return corrupt("its columns are compressed; write it with compression=\"uncompressed\"".into());
    }
    corrupt(text)
}
