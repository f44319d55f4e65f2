//! Operations on directories and their entries.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::fault::{Operation, perform};

/// Creates a directory, whose parent must exist.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    perform(Operation::CreateDir, path, || fs::create_dir(path))
}

/// Creates a directory and its parents, as far as they do not exist.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    if path.is_dir() {
        return Ok(());
    }
    perform(Operation::CreateDir, path, || fs::create_dir_all(path))
}

/// Renames a file or directory; a file of the new name is replaced.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    perform(Operation::Rename, from.as_ref(), || fs::rename(&from, &to))
}

/// Exchanges the names of two directories in one step, where the operating system can.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    perform(Operation::Rename, one, || {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = other;
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }
    })
}

/// Removes a file.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    perform(Operation::Remove, path, || fs::remove_file(path))
}

/// Removes an empty directory.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    perform(Operation::Remove, path, || fs::remove_dir(path))
}

/// Removes a directory with everything in it. For directories that the caller made itself.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    perform(Operation::Remove, path, || fs::remove_dir_all(path))
}

/// Waits until the disk has the entries of a directory, such as a file that was renamed. Has an effect on Unix only.
///
/// # Errors
///
/// Returns the error of the operating system. File systems that cannot do it count as done.
pub fn sync_directory(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    perform(Operation::Sync, path, || {
        #[cfg(unix)]
        match fs::File::open(path)?.sync_all() {
            Err(error) if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
                return Err(error);
            }
            _ => {}
        }
        Ok(())
    })
}

/// Above this number of files, one call for the whole file system takes less time than one for each file.
#[cfg(target_os = "linux")]
const MANY: usize = 64;

/// Waits until the disk has all files below a directory.
pub(crate) fn sync_tree(path: &Path) -> io::Result<()> {
    perform(Operation::Sync, path, || {
        let mut files = Vec::new();
        list(path, &mut files)?;
        #[cfg(target_os = "linux")]
        if files.len() > MANY {
            return Ok(rustix::fs::syncfs(fs::File::open(path)?)?);
        }
        files.iter().try_for_each(|file| fs::OpenOptions::new().append(true).open(file)?.sync_all())
    })
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { list(&entry.path(), files)? } else { files.push(entry.path()) }
    }
    Ok(())
}
