//! Recognition of formats by the content of files.
//!
//! The rules of Parquet and Zarr are here and not in the folders of these formats, because a file is also recognized if
//! the feature of its format is off.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::directory::files_in;
use super::registry::{DirectoryRule, FORMATS, Format};
use crate::error::{Error, Problem, Result};

/// The number of bytes of a file that recognition reads at most.
const PREFIX_BYTES: u64 = 1 << 16;

/// Returns the format of a directory by the content of the files in it.
pub(super) fn recognize_directory(path: &Path) -> Result<Option<Format>> {
    for entry in FORMATS {
        if let DirectoryRule::Root(is_format) = entry.directory
            && is_format(path)
        {
            return Ok(Some(entry.format));
        }
    }
    for entry in FORMATS {
        if let DirectoryRule::AnyFile(is_format) = entry.directory
            && files_in(path, entry.extension)?.iter().any(|file| is_format(file))
        {
            return Ok(Some(entry.format));
        }
    }
    Ok(None)
}

/// Returns the format of a file by its first bytes.
pub(super) fn recognize_file(path: &Path) -> Result<Option<Format>> {
    let start = read_start(path, 1 << 12).map_err(|error| Error::file(path, Problem::Io(error)))?;
    if start.is_empty() {
        return Err(Error::file(path, Problem::NoDraws));
    }
    Ok(FORMATS.iter().find(|entry| (entry.recognize)(&start)).map(|entry| entry.format))
}

/// Returns the first bytes of a file, or `None` if it cannot be read.
pub(super) fn file_start(path: &Path) -> Option<Vec<u8>> {
    read_start(path, PREFIX_BYTES).ok()
}

/// Returns whether a line in the first bytes of a file starts with one of `prefixes`.
pub(super) fn has_line_with(path: &Path, prefixes: &[&str]) -> bool {
    let Some(start) = file_start(path) else { return false };
    let matches = |line: &[u8]| prefixes.iter().any(|prefix| line.starts_with(prefix.as_bytes()));
    start.split(|byte| *byte == b'\n').any(matches)
}

/// Returns whether bytes start as a Parquet file does.
pub(super) fn has_parquet_magic(start: &[u8]) -> bool {
    start.starts_with(b"PAR1")
}

/// Returns whether a file is a Parquet file.
pub(super) fn is_parquet(path: &Path) -> bool {
    file_start(path).is_some_and(|start| has_parquet_magic(&start))
}

/// Returns whether a file is a Parquet file that this library wrote. The footer has the key of its metadata.
pub(super) fn is_own_parquet(path: &Path) -> bool {
    let read_footer = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let mut end = [0; 8];
        file.seek(SeekFrom::End(-8))?;
        file.read_exact(&mut end)?;
        let [length @ .., _, _, _, _] = end;
        let length = u64::from(u32::from_le_bytes(length)).min(PREFIX_BYTES * 16);
        file.seek(SeekFrom::End(-8 - length as i64))?;
        let mut footer = Vec::new();
        file.take(length + 8).read_to_end(&mut footer)?;
        Ok(footer)
    };
    read_footer().is_ok_and(|footer| footer.ends_with(b"PAR1") && footer.windows(6).any(|word| word == b"sgmcmc"))
}

/// Returns whether a directory is a Zarr store of version 2 or 3.
pub(super) fn is_zarr(path: &Path) -> bool {
    let json = |name: &str| -> Option<serde_json::Value> {
        let file = File::open(path.join(name)).ok()?;
        serde_json::from_reader(std::io::BufReader::new(file)).ok()
    };
    let is_group = |name: &str| json(name).is_some_and(|root| root["zarr_format"].is_u64());
    is_group("zarr.json") || is_group(".zgroup") || json(".zmetadata").is_some_and(|root| root["metadata"].is_object())
}

fn read_start(path: &Path, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(bytes).read_to_end(&mut start)?;
    Ok(start)
}
