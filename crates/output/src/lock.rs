//! Advisory locks.

use std::fs::{self, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::fault::{Operation, perform};

/// The number of attempts to lock a file.
const LOCK_ATTEMPTS: u32 = 25;
/// The pause after a failed attempt.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Acquires an exclusive lock, or returns `false` if another handle holds it.
pub(crate) fn try_lock(file: &fs::File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Acquires an exclusive lock, or returns `false` if another handle holds it for a quarter of a second.
///
/// Attempts are repeated for that time, because a child process holds copies of all locks for a moment after it starts.
pub(crate) fn try_lock_for_a_moment(file: &fs::File) -> io::Result<bool> {
    for _ in 0..LOCK_ATTEMPTS {
        if try_lock(file)? {
            return Ok(true);
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    Ok(false)
}

/// An exclusive lock of a directory that other writers respect, in this and other processes. Dropping it releases the
/// lock.
///
/// Directories can be locked on Unix. On other systems, and on file systems without locks, acquiring the lock always
/// succeeds.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::output::DirectoryLock;
///
/// let directory = std::env::temp_dir().join("sgmcmc-doc-directory-lock");
/// std::fs::create_dir_all(&directory)?;
/// let lock = DirectoryLock::try_acquire(&directory)?;
/// assert!(lock.is_some());
/// drop(lock);
/// # std::fs::remove_dir(directory)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct DirectoryLock {
    _directory: Option<fs::File>,
}

impl DirectoryLock {
    /// Locks the directory at `path`, or returns `None` if another handle holds the lock for a quarter of a second.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be opened.
    pub fn try_acquire(path: impl AsRef<Path>) -> io::Result<Option<Self>> {
        let path = path.as_ref();
        perform(Operation::Lock, path, || {
            if !cfg!(unix) {
                return Ok(Some(Self { _directory: None }));
            }
            let directory = fs::File::open(path)?;
            // Network file systems may refuse exclusive locks of files that are open for reading.
            let locked = try_lock_for_a_moment(&directory).unwrap_or(true);
            Ok(locked.then_some(Self { _directory: Some(directory) }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_directory_has_one_lock_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let first = DirectoryLock::try_acquire(&directory).unwrap();
        assert!(first.is_some());
        assert!(DirectoryLock::try_acquire(&directory).unwrap().is_none());
        drop(first);
        assert!(DirectoryLock::try_acquire(&directory).unwrap().is_some());
        assert!(DirectoryLock::try_acquire(directory.path().join("nothing")).is_err());
    }
}
