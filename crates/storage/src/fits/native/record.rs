//! Records: a tag, a length, a checksum and a payload.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{MAGIC, VERSION};
use crate::error::{Error, FilePosition, Problem, Result};

/// The number of bytes before the payload.
const PREFIX: u64 = 12;

/// Returns the bytes before the first record.
pub(super) fn file_header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// Encodes a record. The caller checks with [`fits_record`] that the payload is not too long.
pub(super) fn record(tag: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    let mut bytes = Vec::with_capacity(PREFIX as usize + payload.len());
    bytes.extend_from_slice(&tag);
    bytes.extend_from_slice(&length);
    bytes.extend_from_slice(&checksum(tag, length, payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns whether a record can hold a payload of `bytes` bytes.
pub(super) fn fits_record(bytes: usize) -> bool {
    u32::try_from(bytes).is_ok()
}

fn checksum(tag: [u8; 4], length: [u8; 4], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&tag);
    hasher.update(&length);
    hasher.update(payload);
    hasher.finalize()
}

/// A decoded record.
pub(super) struct Record {
    /// The offset of the record in the file.
    pub(super) offset: u64,
    pub(super) tag: [u8; 4],
    pub(super) payload: Vec<u8>,
}

/// A reader of the records of a file.
pub(super) struct Records<'a> {
    path: &'a Path,
    file: BufReader<File>,
    /// The offset of the next byte.
    offset: u64,
    /// The length of the file in bytes.
    length: u64,
}

impl<'a> Records<'a> {
    /// Opens a file and checks its header.
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let fail = |error| Error::file(path, Problem::Io(error));
        let file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        let mut records = Self { path, file: BufReader::with_capacity(1 << 16, file), offset: 0, length };
        let Some(magic) = records.read_array::<8>()? else {
            return Err(records.truncated("the file has no whole header"));
        };
        if magic != MAGIC {
            return Err(records.corrupt(0, "it does not start with the header of a native fit".into()));
        }
        let Some(version) = records.read_array()?.map(u32::from_le_bytes) else {
            return Err(records.truncated("the file has no whole header"));
        };
        if version != VERSION {
            let detail = format!("it has version {version} of the format, this library reads version {VERSION}");
            return Err(records.corrupt(MAGIC.len() as u64, detail));
        }
        Ok(records)
    }

    /// Returns the length of the file in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the next record, or `None` at the end of the file or of its last whole record.
    pub(super) fn next(&mut self) -> Result<Option<Record>> {
        let offset = self.offset;
        let (Some(tag), Some(length), Some(expected)) = (self.read_array()?, self.read_array()?, self.read_array()?)
        else {
            return Ok(None);
        };
        let size = u64::from(u32::from_le_bytes(length));
        if size > self.length - self.offset {
            return Ok(None);
        }
        let mut payload = Vec::new();
        let read = (&mut self.file).take(size).read_to_end(&mut payload);
        read.map_err(|error| Error::at_position(self.path, FilePosition::byte(offset), Problem::Io(error)))?;
        self.offset += size;
        if payload.len() as u64 != size || checksum(tag, length, &payload) != u32::from_le_bytes(expected) {
            return Err(self.corrupt(offset, "the checksum of this record is wrong".into()));
        }
        Ok(Some(Record { offset, tag, payload }))
    }

    /// Returns an error about the bytes at `offset`.
    pub(super) fn corrupt(&self, offset: u64, detail: String) -> Error {
        Error::at_position(self.path, FilePosition::byte(offset), Problem::Corrupt { detail })
    }

    /// Returns the error of a file that is truncated or empty.
    pub(super) fn truncated(&self, detail: &str) -> Error {
        let problem = if self.length == 0 { Problem::NoDraws } else { Problem::Truncated { detail: detail.into() } };
        Error::at_position(self.path, FilePosition::byte(self.length), problem)
    }

    /// Reads the next `N` bytes, or returns `None` if fewer are left.
    fn read_array<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        if self.length - self.offset < N as u64 {
            return Ok(None);
        }
        let mut bytes = [0; N];
        let read = self.file.read_exact(&mut bytes);
        read.map_err(|error| Error::at_position(self.path, FilePosition::byte(self.offset), Problem::reading(error)))?;
        self.offset += N as u64;
        Ok(Some(bytes))
    }
}
