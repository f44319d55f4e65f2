//! Readers of data files: values from plain and compressed files, messages that name file, line and column, and errors instead of panics
//! for damaged files of every format.

mod arrays;
mod csv;
mod damaged;
mod libsvm;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use npyz::WriterBuilder;
use sgmcmc::data::Values;
use sgmcmc::prelude::*;
use sgmcmc::storage::Result;
use tempfile::TempDir;

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file of these bytes in a directory that lives as long as the test.
fn file(dir: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Runs `check` on the bytes as they are, compressed, and compressed in two members.
fn in_all_forms(bytes: &[u8], check: impl Fn(&Path)) {
    let dir = TempDir::new().unwrap();
    check(&file(&dir, "plain", bytes));
    check(&file(&dir, "compressed", gz(bytes)));
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    check(&file(&dir, "members", [gz(head), gz(tail)].concat()));
}

fn values<'a>(data: &'a Columns, leaf: &str) -> &'a Values {
    data.get(leaf).unwrap().values()
}

fn names(result: Result<impl std::fmt::Debug>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    assert!(!message.contains('\n'), "more than one line: {message}");
}

const PEOPLE: &str = "age,height,color,label,id\n30,1.8,red,1,7\n-41,1.6e0,blue,0,8\n50, 1.7 ,red,1,9\n";

fn npy<T: npyz::AutoSerialize + npyz::Serialize + Copy>(values: &[T], shape: &[u64], order: npyz::Order) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
    let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

fn npz(members: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn idx(kind: u8, sizes: &[u32], content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, kind, sizes.len() as u8];
    sizes.iter().for_each(|size| bytes.extend(size.to_be_bytes()));
    bytes.extend(content);
    bytes
}
