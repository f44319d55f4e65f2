//! Operations on directories and their entries.

use std::collections::BTreeSet;
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

/// Creates a directory and its missing parents.
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

/// Renames a file or directory. An existing file with the new name is replaced.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    perform(Operation::Rename, from.as_ref(), || fs::rename(&from, &to))
}

/// Exchanges the names of two directories atomically, if the operating system supports it.
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

/// Removes a directory and everything in it. The caller must have created the directory.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    perform(Operation::Remove, path, || fs::remove_dir_all(path))
}

/// Waits until the entries of a directory, such as a renamed file, are on the disk. This has an effect on Unix only.
///
/// # Errors
///
/// Returns the error of the operating system. File systems that do not support this are ignored.
pub fn sync_directory(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    perform(Operation::Sync, path, || sync_entries(path))
}

/// Waits until the entries of a directory are on the disk.
fn sync_entries(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    match fs::File::open(path)?.sync_all() {
        Err(error) if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            return Err(error);
        }
        _ => {}
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The number of files above which one call for the whole file system is faster than one call per file.
#[cfg(target_os = "linux")]
const MANY: usize = 64;

/// Waits until the given files and the directories between them and `root` are on the disk. Files that no longer exist
/// are skipped.
///
/// # Errors
///
/// Returns the error of the operating system.
pub fn sync_files(root: impl AsRef<Path>, files: &BTreeSet<PathBuf>) -> io::Result<()> {
    let root = root.as_ref();
    perform(Operation::Sync, root, || {
        #[cfg(target_os = "linux")]
        if files.len() > MANY {
            return Ok(rustix::fs::syncfs(fs::File::open(root)?)?);
        }
        let mut directories = BTreeSet::from([root]);
        for file in files {
            match fs::OpenOptions::new().append(true).open(file) {
                Ok(open) => open.sync_all()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            directories.extend(file.ancestors().skip(1).take_while(|path| path.starts_with(root)));
        }
        directories.into_iter().try_for_each(sync_entries)
    })
}

/// Waits until all files below a directory are on the disk.
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

/// Appends all files below a directory.
fn list(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { list(&entry.path(), files)? } else { files.push(entry.path()) }
    }
    Ok(())
}
