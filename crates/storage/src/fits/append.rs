//! Files that grow at their end and continue at a known byte after a restart.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sgmcmc_gradient::{Error, Result};

use crate::output::File;

/// A file that is written block by block.
///
/// Bytes of an earlier run after the current end are removed by the first write. They are not removed before, because a
/// resumed chain continues the same file.
#[derive(Debug)]
pub(super) struct Append {
    path: PathBuf,
    file: Option<File>,
    /// The number of bytes written so far.
    end: u64,
    /// True if the bytes after `end` have been removed.
    truncated: bool,
}

impl Append {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None, end: 0, truncated: false }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens or creates the file, locks it, and sets the end to byte 0.
    pub(super) fn begin(&mut self) -> Result<()> {
        let opened = File::open(&self.path).and_then(lock);
        self.file = Some(opened.map_err(|error| failed(&self.path, error))?);
        (self.end, self.truncated) = (0, false);
        Ok(())
    }

    /// Appends `bytes`, then `tail`, which the next call overwrites.
    pub(super) fn write(&mut self, bytes: &[u8], tail: &[u8]) -> Result<()> {
        self.truncate()?;
        let end = self.end;
        self.with_file(|file| {
            file.seek(SeekFrom::Start(end))?;
            // A single system call, so that a killed process rarely leaves an incomplete block.
            file.write_all(&[bytes, tail].concat())?;
            file.set_len(end + (bytes.len() + tail.len()) as u64)
        })?;
        self.end = end + bytes.len() as u64;
        Ok(())
    }

    /// Removes the bytes that an earlier run left after the current end.
    pub(super) fn truncate(&mut self) -> Result<()> {
        if self.truncated {
            return Ok(());
        }
        let end = self.end;
        // Devices such as `/dev/full` have no length and cannot be truncated.
        self.with_file(|file| if file.len()? > end { file.set_len(end) } else { Ok(()) })?;
        self.truncated = true;
        Ok(())
    }

    /// Overwrites bytes that were written before.
    pub(super) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.with_file(|file| {
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(bytes)
        })
    }

    /// Waits until the content is on the disk.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.with_file(|file| file.sync_data())
    }

    /// Returns the number of bytes written so far, for a checkpoint.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Continues after the first `end` bytes, which a checkpoint recorded.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is shorter.
    pub(super) fn restore(&mut self, end: u64) -> Result<()> {
        self.with_file(|file| {
            let length = file.len()?;
            if length < end {
                return Err(io::Error::other(format!("it has {length} bytes, but the checkpoint was made at {end}")));
            }
            Ok(())
        })?;
        (self.end, self.truncated) = (end, false);
        Ok(())
    }

    fn with_file(&mut self, operate: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), operate).map_err(|error| failed(&self.path, error))
    }
}

/// Locks a file for this writer until the file is closed.
///
/// # Errors
///
/// Returns an error if another writer holds the lock.
pub(super) fn lock(file: File) -> io::Result<File> {
    if file.try_lock()? { Ok(file) } else { Err(io::Error::other("another chain or another process writes to it")) }
}

/// Converts an error of an encoder to an I/O error.
pub(super) fn io_error(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// Returns the error of a file of draws that could not be written. The remedy is that of a full disk if the disk is full.
pub(super) fn failed(path: &Path, error: impl Into<io::Error>) -> Error {
    let error = error.into();
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ": free some space or write to another directory",
        _ => "",
    };
    Error::Sink { reason: format!("could not write draws to `{}`: {error}{remedy}", crate::error::shown(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_disk_has_the_remedy_of_a_full_disk() {
        let message = |kind: io::ErrorKind| failed(Path::new("draws.csv"), kind).to_string();
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert!(message(kind).contains("free some space"), "{}", message(kind));
        }
        let denied = message(io::ErrorKind::PermissionDenied);
        assert_eq!(denied, "could not write draws to `draws.csv`: permission denied; draws made so far are kept");
    }
}
