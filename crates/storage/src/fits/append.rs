//! A file that grows at its end, and goes on at a known place after a restart.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sgmcmc_core::{Error, Result};

use crate::output::File;

/// A file written block after block. What an earlier run left behind the current end is cut off by the first write, not before: a
/// chain that is resumed goes on in the same file.
#[derive(Debug)]
pub(super) struct Append {
    path: PathBuf,
    file: Option<File>,
    end: u64,
    clean: bool,
}

impl Append {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None, end: 0, clean: false }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file, made if it is not there, with its end at byte 0.
    pub(super) fn begin(&mut self) -> Result<()> {
        let opened = File::open(&self.path).and_then(claim);
        self.file = Some(opened.map_err(|error| self.failed(&error))?);
        (self.end, self.clean) = (0, false);
        Ok(())
    }

    /// Appends `bytes`, then `tail`, which the next call overwrites.
    pub(super) fn write(&mut self, bytes: &[u8], tail: &[u8]) -> Result<()> {
        let (end, clean) = (self.end, self.clean);
        self.with(|file| {
            if !clean {
                file.set_len(end)?;
            }
            file.seek(SeekFrom::Start(end))?;
            // In one piece, so that a kill hardly ever leaves half of it.
            file.write_all(&[bytes, tail].concat())?;
            file.set_len(end + (bytes.len() + tail.len()) as u64)
        })?;
        (self.end, self.clean) = (end + bytes.len() as u64, true);
        Ok(())
    }

    /// Replaces bytes that were written before.
    pub(super) fn patch(&mut self, place: u64, bytes: &[u8]) -> Result<()> {
        self.with(|file| {
            file.seek(SeekFrom::Start(place))?;
            file.write_all(bytes)
        })
    }

    /// Waits until the disk has it.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.with(|file| file.sync_data())
    }

    /// How far the file had grown, for a checkpoint.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Goes on where a checkpoint was made.
    pub(super) fn restore(&mut self, end: u64) -> Result<()> {
        self.with(|file| {
            let length = file.len()?;
            if length < end {
                return Err(io::Error::other(format!("it has {length} bytes, but the checkpoint was made at {end}")));
            }
            Ok(())
        })?;
        (self.end, self.clean) = (end, false);
        Ok(())
    }

    fn with(&mut self, act: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), act).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> Error {
        failed(&self.path, error)
    }
}

/// The file, locked for this writer until it is closed.
///
/// # Errors
///
/// If somebody else writes to it.
pub(crate) fn claim(file: File) -> io::Result<File> {
    if file.try_lock()? { Ok(file) } else { Err(io::Error::other("another chain or another process writes to it")) }
}

/// A file that could not be written, as an error of the operating system for the layer below.
pub(super) fn other(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// A file of draws that could not be written.
pub(super) fn failed(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Sink { reason: format!("could not write draws to `{}`: {reason}", crate::error::shown(path)) }
}
