//! The pages of a mapped file. This module has the only unsafe code of the crate.
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
    /// True if observations are read with system calls.
    read_rows: AtomicBool,
}

impl Pages {
    pub(super) fn map(file: File) -> io::Result<Self> {
        // SAFETY: the map is read-only, and its bytes are only cast to types for which every bit pattern is valid.
        // Bytes that another process changes can therefore give wrong but not invalid numbers. The module documentation
        // forbids such changes. This crate never makes them, because it creates files under a temporary name and
        // renames them.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { map, file, read_rows: AtomicBool::new(false) })
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.map[range]
    }

    /// Checks that the file still has its first `end` bytes. Otherwise returns the reason as text.
    pub(super) fn check(&self, end: usize) -> Result<(), String> {
        match self.file.metadata() {
            Ok(data) if data.len() >= end as u64 => Ok(()),
            Ok(data) => Err(format!("the mapped file was cut to {} bytes, of which {end} are needed", data.len())),
            Err(error) => Err(format!("the mapped file cannot be inspected: {error}")),
        }
    }

    /// Reads observations with system calls from now on.
    pub(super) fn set_read_rows(&self) {
        self.read_rows.store(true, Ordering::Relaxed);
    }

    pub(super) fn reads_rows(&self) -> bool {
        self.read_rows.load(Ordering::Relaxed)
    }

    /// Fills `target` from the file with a system call. Returns `true` on success.
    pub(super) fn read_at(&self, target: &mut [u8], offset: u64) -> bool {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_exact_at(&self.file, target, offset).is_ok();
        #[cfg(not(unix))]
        return false;
    }

    /// Releases all resident pages. They are read again from the file when they are needed.
    pub(super) fn release(&self) {
        #[cfg(unix)]
        // SAFETY: the pages of a shared, read-only map of a file have the content of the file, so that releasing them
        // does not change the content of any slice of the map. If the operating system returns an error, the pages stay
        // resident.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }
}
