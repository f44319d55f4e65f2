//! The data of a workload as a NumPy archive, for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use sgmcmc::data::{Column, Values};

use crate::Result;

/// Writes `columns` to an archive with one array per column.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(super) fn write(path: &Path, columns: &[Column]) -> Result<()> {
    let describe = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::create(path).map_err(|error| describe(&error))?;
    let mut archive = zip::ZipWriter::new(BufWriter::new(file));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true);
    for column in columns {
        archive.start_file(format!("{}.npy", column.name()), options).map_err(|error| describe(&error))?;
        write_array(&mut archive, column).map_err(|error| describe(&error))?;
    }
    archive.finish().map_err(|error| describe(&error))?.flush().map_err(|error| describe(&error))?;
    println!("written: {}", path.display());
    Ok(())
}

/// Writes a column in the format NPY 1.0.
fn write_array(out: &mut impl Write, column: &Column) -> std::io::Result<()> {
    let kind = match column.values() {
        Values::F32(_) => "<f4",
        Values::F64(_) => "<f8",
        Values::I32(_) => "<i4",
        Values::I64(_) => "<i8",
        Values::Bool(_) | Values::BoolBytes(_) => "|b1",
    };
    let shape: String =
        [column.observations()].iter().chain(column.row_shape()).map(|length| format!("{length}, ")).collect();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The magic, the version, the length and the header with its final newline fill a multiple of 64 bytes.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(length as u16).to_le_bytes())?;
    out.write_all(format!("{header:<width$}\n", width = length - 1).as_bytes())?;
    match column.values() {
        Values::F32(values) => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
        Values::F64(values) => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
        Values::I32(values) => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
        Values::I64(values) => values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes())),
        Values::Bool(values) => values.iter().try_for_each(|value| out.write_all(&[u8::from(*value)])),
        Values::BoolBytes(values) => values.iter().try_for_each(|value| out.write_all(&[u8::from(*value != 0)])),
    }
}

#[cfg(test)]
mod tests {
    use sgmcmc::data::Column;

    #[test]
    fn the_library_reads_the_archive() {
        let columns = [
            Column::new("x", vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3]).unwrap(),
            Column::new("group", vec![7_i64, -8], []).unwrap(),
        ];
        let path = std::env::temp_dir().join(format!("lab_export_{}.npz", std::process::id()));
        super::write(&path, &columns).unwrap();
        let read = sgmcmc::storage::read::npz(&path).unwrap().into_vec();
        std::fs::remove_file(&path).unwrap();
        for column in &columns {
            let found = read.iter().find(|found| found.name() == column.name()).unwrap();
            assert_eq!((found.values(), found.row_shape()), (column.values(), column.row_shape()));
        }
    }
}
