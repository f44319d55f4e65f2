//! Records: a tag, a length, a checksum, and bytes.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{MAGIC, VERSION};
use crate::error::{Error, Place, Problem, Result};

const PREFIX: u64 = 12;

/// What stands before the first record.
pub(super) fn start() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// One record, as it stands in the file. A payload of more than `u32::MAX` bytes is refused by [`fits`].
pub(super) fn record(tag: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    let mut bytes = Vec::with_capacity(PREFIX as usize + payload.len());
    bytes.extend_from_slice(&tag);
    bytes.extend_from_slice(&length);
    bytes.extend_from_slice(&checksum(tag, length, payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Whether a record can hold so many bytes.
pub(super) fn fits(bytes: usize) -> bool {
    u32::try_from(bytes).is_ok()
}

fn checksum(tag: [u8; 4], length: [u8; 4], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&tag);
    hasher.update(&length);
    hasher.update(payload);
    hasher.finalize()
}

/// A record that was read.
pub(super) struct Record {
    /// Its first byte in the file.
    pub(super) place: u64,
    pub(super) tag: [u8; 4],
    pub(super) payload: Vec<u8>,
}

/// Reads record after record.
pub(super) struct Records<'a> {
    path: &'a Path,
    file: BufReader<File>,
    place: u64,
    length: u64,
}

impl<'a> Records<'a> {
    /// Opens the file and checks how it starts.
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let fail = |error| Error::file(path, Problem::Io(error));
        let file = File::open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        let mut records = Self { path, file: BufReader::with_capacity(1 << 16, file), place: 0, length };
        let Some(magic) = records.array::<8>()? else { return Err(records.cut("the file has no whole header")) };
        if magic != MAGIC {
            return Err(records.corrupt(0, "it does not start as a fit of this library does".into()));
        }
        let Some(version) = records.array()?.map(u32::from_le_bytes) else {
            return Err(records.cut("the file has no whole header"));
        };
        if version != VERSION {
            let detail = format!("it has version {version} of the format, this library reads version {VERSION}");
            return Err(records.corrupt(MAGIC.len() as u64, detail));
        }
        Ok(records)
    }

    /// The length of the file in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The next record; none at the end, and none where the file was cut.
    pub(super) fn next(&mut self) -> Result<Option<Record>> {
        let place = self.place;
        let (Some(tag), Some(length), Some(expected)) = (self.array()?, self.array()?, self.array()?) else {
            return Ok(None);
        };
        let size = u64::from(u32::from_le_bytes(length));
        if size > self.length - self.place {
            return Ok(None);
        }
        let mut payload = Vec::new();
        let read = (&mut self.file).take(size).read_to_end(&mut payload);
        read.map_err(|error| Error::at(self.path, Place::byte(place), Problem::Io(error)))?;
        self.place += size;
        if payload.len() as u64 != size || checksum(tag, length, &payload) != u32::from_le_bytes(expected) {
            return Err(self.corrupt(place, "the checksum of this record is wrong".into()));
        }
        Ok(Some(Record { place, tag, payload }))
    }

    pub(super) fn corrupt(&self, place: u64, detail: String) -> Error {
        Error::at(self.path, Place::byte(place), Problem::Corrupt { detail })
    }

    pub(super) fn cut(&self, detail: &str) -> Error {
        let problem = if self.length == 0 { Problem::NoDraws } else { Problem::Truncated { detail: detail.into() } };
        Error::at(self.path, Place::byte(self.length), problem)
    }

    /// The next bytes, if there are so many.
    fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        if self.length - self.place < N as u64 {
            return Ok(None);
        }
        let mut bytes = [0; N];
        let read = self.file.read_exact(&mut bytes);
        read.map_err(|error| Error::at(self.path, Place::byte(self.place), Problem::reading(error)))?;
        self.place += N as u64;
        Ok(Some(bytes))
    }
}
