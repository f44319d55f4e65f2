//! The pages of a mapped file. The only unsafe code of this crate.
#![allow(unsafe_code, reason = "mapping a file is unsafe, because another process could change it")]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::Mmap;

/// A file mapped read-only.
#[derive(Debug)]
pub(super) struct Pages {
    map: Mmap,
    file: File,
    read_rows: AtomicBool,
}

impl Pages {
    pub(super) fn map(file: File) -> io::Result<Self> {
        // SAFETY: the map is read-only, and shown only as types for which every bit pattern is a value, so that bytes changed by
        // another process could give wrong numbers but no invalid ones. The module's documentation forbids such changes, and
        // files are created under another name and renamed, so that this crate never makes them.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { map, file, read_rows: AtomicBool::new(false) })
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.map[range]
    }

    /// Returns the reason if the file no longer has its first `end` bytes.
    pub(super) fn check(&self, end: usize) -> Result<(), String> {
        match self.file.metadata() {
            Ok(data) if data.len() >= end as u64 => Ok(()),
            Ok(data) => Err(format!("the mapped file was cut to {} bytes, of which {end} are needed", data.len())),
            Err(error) => Err(format!("the mapped file cannot be looked at: {error}")),
        }
    }

    /// From now on rows are read from the file.
    pub(super) fn read_rows(&self) {
        self.read_rows.store(true, Ordering::Relaxed);
    }

    pub(super) fn reads_rows(&self) -> bool {
        self.read_rows.load(Ordering::Relaxed)
    }

    /// Fills `target` from the file, past the map; whether that worked.
    pub(super) fn read_at(&self, target: &mut [u8], offset: u64) -> bool {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_exact_at(&self.file, target, offset).is_ok();
        #[cfg(not(unix))]
        return false;
    }

    /// Gives all pages back; they are read again from the file when they are wanted.
    pub(super) fn release(&self) {
        #[cfg(unix)]
        // SAFETY: the pages of a shared, read-only map of a file have no content but the file's, so that dropping them changes no
        // value that any slice of this map shows. A refusal by the operating system leaves them where they are.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
}
