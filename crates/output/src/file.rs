//! A file that is written.

use std::fs::{self, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::fault::{Operation, Verdict, full, perform, verdict};

/// How often a lock is tried, and the pause after each time.
const LOCK_TRIES: u32 = 25;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A file open for writing. Readers of foreign files use [`std::fs::File`].
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

impl File {
    /// Creates the file, or empties the one that exists.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::with(Operation::Create, path.into(), OpenOptions::new().write(true).create(true).truncate(true))
    }

    /// Creates a file that must not exist, open for reading as well.
    ///
    /// # Errors
    ///
    /// Returns an error of kind `AlreadyExists` if it exists, or the error of the operating system.
    pub fn create_new(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::with(Operation::Create, path.into(), OpenOptions::new().read(true).write(true).create_new(true))
    }

    /// Opens a file to go on with it, and creates it if it does not exist. The content stays; the position is at byte 0.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::with(Operation::Open, path.into(), OpenOptions::new().write(true).create(true).truncate(false))
    }

    /// Opens a file that other parts of the program do not see by name, for reading and writing.
    ///
    /// The file is removed from its directory right after it was created and vanishes when it is closed.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn scratch(directory: &Path) -> io::Result<Self> {
        let path = crate::beside::unused(&directory.join("scratch"));
        let file = Self::create_new(path)?;
        #[cfg(unix)]
        crate::remove_file(&file.path)?;
        Ok(file)
    }

    fn with(operation: Operation, path: PathBuf, options: &OpenOptions) -> io::Result<Self> {
        let file = perform(operation, &path, || options.open(&path))?;
        Ok(Self { file, path })
    }

    /// Returns the path the file was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn len(&self) -> io::Result<u64> {
        self.file.metadata().map(|data| data.len())
    }

    /// Returns whether the file has no content.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|length| length == 0)
    }

    /// Cuts or extends the file.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn set_len(&self, length: u64) -> io::Result<()> {
        perform(Operation::SetLen, &self.path, || self.file.set_len(length))
    }

    /// Waits until the disk has content and metadata.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn sync_all(&self) -> io::Result<()> {
        perform(Operation::Sync, &self.path, || self.file.sync_all())
    }

    /// Waits until the disk has the content.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn sync_data(&self) -> io::Result<()> {
        perform(Operation::Sync, &self.path, || self.file.sync_data())
    }

    /// Locks the file against other holders of a lock, in this process and in others, until it is closed.
    ///
    /// Returns false if somebody else holds the lock, and goes on to do so for a quarter of a second: a process that this one starts holds
    /// copies of all locks for a moment. File systems without locks count as not locked by anybody.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn try_lock(&self) -> io::Result<bool> {
        perform(Operation::Lock, &self.path, || {
            for _ in 0..LOCK_TRIES {
                if try_lock(&self.file)? {
                    return Ok(true);
                }
                std::thread::sleep(LOCK_PAUSE);
            }
            Ok(false)
        })
    }

    /// Returns another handle of the same open file. Both share the position.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, path: self.path.clone() })
    }

    /// Sets the access rights.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        self.file.set_permissions(permissions)
    }
}

pub(crate) fn try_lock(file: &fs::File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match verdict(Operation::Write, &self.path) {
            Verdict::Pass => self.file.write(bytes),
            other => {
                let _ = self.file.write_all(&bytes[..bytes.len() / 2]);
                if other == Verdict::Kill { std::process::abort() } else { Err(full()) }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        perform(Operation::Flush, &self.path, || self.file.flush())
    }
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read(bytes)
    }
}

impl Seek for File {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}
