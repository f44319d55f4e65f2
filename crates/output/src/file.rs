//! Files that are open for writing.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::fault::{Operation, Verdict, full, perform, verdict};
use crate::lock::try_lock_for_a_moment;

/// A file that is open for writing. Readers use [`std::fs::File`].
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use sgmcmc::storage::output::{File, remove_file};
///
/// let mut file = File::create(std::env::temp_dir().join("sgmcmc-doc-file.txt"))?;
/// file.write_all(b"content")?;
/// assert_eq!(file.len()?, 7);
/// remove_file(file.path())?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

impl File {
    /// Creates a file, or truncates an existing one.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::open_with(Operation::Create, path.into(), OpenOptions::new().write(true).create(true).truncate(true))
    }

    /// Creates a file for reading and writing. The file must not exist.
    ///
    /// # Errors
    ///
    /// Returns an error of kind `AlreadyExists` if the file exists, or the error of the operating system.
    pub fn create_new(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::open_with(Operation::Create, path.into(), OpenOptions::new().read(true).write(true).create_new(true))
    }

    /// Opens a file without truncating it, or creates it if it does not exist. The position is at byte 0.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        Self::open_with(Operation::Open, path.into(), OpenOptions::new().write(true).create(true).truncate(false))
    }

    /// Creates an anonymous temporary file in `directory` for reading and writing.
    ///
    /// On Unix, the file is removed from its directory at once and exists until it is closed.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn scratch(directory: &Path) -> io::Result<Self> {
        let path = crate::beside::temporary_path(&directory.join("scratch"));
        let file = Self::create_new(path)?;
        #[cfg(unix)]
        crate::remove_file(&file.path)?;
        Ok(file)
    }

    /// Opens a file with the given options.
    fn open_with(operation: Operation, path: PathBuf, options: &OpenOptions) -> io::Result<Self> {
        let file = perform(operation, &path, || options.open(&path))?;
        Ok(Self { file, path })
    }

    /// Returns the path with which the file was opened.
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

    /// Returns whether the file is empty.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|length| length == 0)
    }

    /// Truncates or extends the file to `length` bytes.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn set_len(&self, length: u64) -> io::Result<()> {
        perform(Operation::SetLen, &self.path, || self.file.set_len(length))
    }

    /// Waits until content and metadata are on the disk.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn sync_all(&self) -> io::Result<()> {
        perform(Operation::Sync, &self.path, || self.file.sync_all())
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn sync_data(&self) -> io::Result<()> {
        perform(Operation::Sync, &self.path, || self.file.sync_data())
    }

    /// Acquires an exclusive lock that other handles respect, in this and other processes. The lock is released when
    /// the file is closed.
    ///
    /// Returns `false` if another handle holds the lock for a quarter of a second. Attempts are repeated for that time,
    /// because a child process holds copies of all locks for a moment after it starts. On file systems without locks,
    /// this always succeeds.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn try_lock(&self) -> io::Result<bool> {
        perform(Operation::Lock, &self.path, || try_lock_for_a_moment(&self.file))
    }

    /// Returns another handle of the same open file. Both share the position.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, path: self.path.clone() })
    }

    /// Sets the permissions.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn set_permissions(&self, permissions: fs::Permissions) -> io::Result<()> {
        self.file.set_permissions(permissions)
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
