//! Parquet files that the writer of the `parquet` crate wrote.
#![cfg(feature = "parquet")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use sgmcmc_storage::{Result, read};

const SCHEMA: &str = "message rows { REQUIRED DOUBLE a; OPTIONAL DOUBLE b; REQUIRED INT64 k; }";

/// Writes two row groups of `a`, `b` and `k`. A `b` that is `None` becomes null.
fn write(path: &Path, b: &[Option<f64>], compression: Compression) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    for start in [0, b.len()] {
        let rows: Vec<usize> = (start..start + b.len()).collect();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let a: Vec<f64> = rows.iter().map(|row| *row as f64 * 0.5).collect();
        column.typed::<DoubleType>().write_batch(&a, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let present: Vec<f64> = b.iter().flatten().copied().collect();
        let levels: Vec<i16> = b.iter().map(|b| i16::from(b.is_some())).collect();
        column.typed::<DoubleType>().write_batch(&present, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let k: Vec<i64> = rows.iter().map(|row| *row as i64).collect();
        column.typed::<Int64Type>().write_batch(&k, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Checks that the message of an error has all `parts`.
fn names(result: Result<impl std::fmt::Debug>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    parts.iter().for_each(|part| assert!(message.contains(part), "`{part}` is missing in: {message}"));
}

fn file(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("rows.parquet")
}

#[test]
fn columns_become_leaves() {
    let dir = tempfile::tempdir().unwrap();
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())] {
        write(&file(&dir), &[Some(7.0), Some(8.0)], compression);
        let data = read::parquet(file(&dir)).float("x", ["b", "a"]).int("k", 2).float("z", "k").read().unwrap();
        assert_eq!(data.as_slice()[0].values(), &vec![7.0_f32, 0.0, 8.0, 0.5, 7.0, 1.0, 8.0, 1.5].into());
        assert_eq!(data.as_slice()[1].values(), &vec![0_i64, 1, 2, 3].into());
        assert_eq!(data.as_slice()[2].values(), &vec![0.0_f32, 1.0, 2.0, 3.0].into());
    }
}

#[test]
fn mistakes_are_named() {
    let dir = tempfile::tempdir().unwrap();
    write(&file(&dir), &[Some(1.0), None, Some(f64::NAN)], Compression::SNAPPY);
    let table = || read::parquet(file(&dir));
    names(table().float("x", "b").read(), &["rows.parquet, row 1, column `b`", "missing", "null"]);
    names(table().float("x", "c").read(), &["rows.parquet", "no column `c`", "`a`, `b`, `k`"]);
    names(table().float("x", 3).read(), &["rows.parquet", "no column `3`"]);
    names(table().int("x", "a").read(), &["rows.parquet, column `a`", "neither an integer"]);
    names(read::parquet(dir.path().join("none")).float("x", "a").read(), &["none", "No such file"]);
    write(&file(&dir), &[Some(1.0), Some(f64::NAN)], Compression::SNAPPY);
    names(table().float("x", "b").read(), &["rows.parquet", "`x` holds NaN at row 1"]);
    write(&file(&dir), &[], Compression::SNAPPY);
    names(table().float("x", "b").read(), &["rows.parquet", "no observation"]);
    std::fs::write(file(&dir), b"PAR1 and nothing else").unwrap();
    names(table().float("x", "b").read(), &["rows.parquet", "corrupt"]);
}

#[test]
fn damaged_files_give_errors() {
    let dir = tempfile::tempdir().unwrap();
    write(&file(&dir), &[Some(1.0), Some(2.0), Some(3.0)], Compression::SNAPPY);
    let whole = std::fs::read(file(&dir)).unwrap();
    let mut refused = 0;
    for offset in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[offset] ^= 1 << (offset % 8);
        std::fs::write(file(&dir), bytes).unwrap();
        if let Err(error) = read::parquet(file(&dir)).float("x", ["a", "b"]).int("k", "k").read() {
            assert!(error.to_string().contains("rows.parquet"), "{error}");
            refused += 1;
        }
    }
    assert!(refused > whole.len() / 4, "{refused} of {}", whole.len());
}
