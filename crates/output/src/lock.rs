//! Advisory locks.

use std::fs::{self, TryLockError};
use std::io;

/// Acquires an exclusive lock, or returns `false` if another handle holds it.
pub(crate) fn try_lock(file: &fs::File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
