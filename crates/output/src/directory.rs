//! Directories that are written under a temporary name and renamed when they are complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic::resolve;
use crate::beside::{parent, remove_abandoned, temporary_path};
use crate::lock::try_lock;
use crate::operations::{
    create_dir, exchange, remove_dir, remove_dir_all, remove_file, rename, sync_directory, sync_tree,
};

/// A directory under a temporary name that [`commit`](Self::commit) or [`replace`](Self::replace) renames to its final
/// name.
///
/// If it is dropped before, it is removed with all files in it, and a directory with the final name is unchanged.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::output::AtomicDirectory;
///
/// let path = std::env::temp_dir().join("sgmcmc-doc-atomic-directory");
/// let directory = AtomicDirectory::create(&path)?;
/// std::fs::write(directory.directory().join("a.txt"), "content")?;
/// directory.commit()?;
/// assert!(path.join("a.txt").exists());
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicDirectory {
    /// The temporary path.
    directory: PathBuf,
    /// The final path.
    path: PathBuf,
    committed: bool,
    /// The lock that shows other processes that the directory is not abandoned.
    _lock: Option<fs::File>,
}

impl AtomicDirectory {
    /// Creates a temporary directory that will be renamed to `path`. A symbolic link is followed.
    ///
    /// # Errors
    ///
    /// Returns an error if `path` is a dangling symbolic link, or if the temporary directory cannot be created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = resolve(path.as_ref())?;
        remove_abandoned(&path)?;
        let directory = temporary_path(&path);
        create_dir(&directory)?;
        let lock = fs::File::open(&directory).ok().filter(|file| try_lock(file).unwrap_or(false));
        Ok(Self { directory, path, committed: false, _lock: lock })
    }

    /// Returns the directory to write files to.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Renames the directory to its final name, which must not exist or be an empty directory.
    ///
    /// # Errors
    ///
    /// Returns an error of kind `DirectoryNotEmpty` or `AlreadyExists` if the name is in use, or the error of the
    /// operating system.
    pub fn commit(mut self) -> io::Result<()> {
        sync_tree(&self.directory)?;
        if self.path.symlink_metadata().is_ok_and(|data| !data.is_dir()) {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        // On Unix, the rename itself replaces an empty directory.
        #[cfg(not(unix))]
        let _ = fs::remove_dir(&self.path);
        rename(&self.directory, &self.path)?;
        self.committed = true;
        sync_directory(parent(&self.path))
    }

    /// Renames the directory to its final name and removes the directory of that name, which has only `files`.
    ///
    /// The paths in `files` are relative to the directory. On Linux, the directories exchange their names atomically.
    /// On other systems, the final name does not exist for a moment.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system. If the old directory has a file that is not in `files`, the error has
    /// its new path.
    pub fn replace(mut self, files: &[PathBuf]) -> io::Result<()> {
        sync_tree(&self.directory)?;
        match exchange(&self.directory, &self.path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
                self.swap()?;
            }
            other => other?,
        }
        self.committed = true;
        sync_directory(parent(&self.path))?;
        remove_listed(&self.directory, files).map_err(|error| {
            let message =
                format!("the old directory could not be removed, it is now `{}`: {error}", self.directory.display());
            io::Error::new(error.kind(), message)
        })
    }

    /// Exchanges the two directories with three renames.
    fn swap(&self) -> io::Result<()> {
        let aside = temporary_path(&self.path);
        rename(&self.path, &aside)?;
        if let Err(error) = rename(&self.directory, &self.path) {
            let _ = rename(&aside, &self.path);
            return Err(error);
        }
        rename(&aside, &self.directory)
    }
}

impl Drop for AtomicDirectory {
    fn drop(&mut self) {
        if !self.committed {
            // The caller already has an error to report.
            let _ = remove_dir_all(&self.directory);
        }
    }
}

/// Removes the files, and then the directories, which must be empty.
fn remove_listed(root: &Path, files: &[PathBuf]) -> io::Result<()> {
    for file in files {
        remove_file(root.join(file))?;
    }
    remove_empty(root)
}

/// Removes a directory that has only empty directories.
fn remove_empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
        }
    }
    remove_dir(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{Fault, Injector};

    /// Writes a directory of two files, and replaces the old one if there is one.
    fn write(path: &Path, text: &str, old: Option<&[PathBuf]>) -> io::Result<()> {
        let directory = AtomicDirectory::create(path)?;
        for name in ["a", "b"] {
            crate::write_atomically(directory.directory().join(name), |file| {
                io::Write::write_all(file, text.as_bytes())
            })?;
        }
        match old {
            Some(files) => directory.replace(files),
            None => directory.commit(),
        }
    }

    fn content(path: &Path) -> Option<String> {
        let read = |name: &str| fs::read_to_string(path.join(name)).ok();
        Some(read("a")? + &read("b")?)
    }

    #[test]
    fn a_failure_of_any_operation_leaves_the_old_or_the_new_directory() {
        let files = ["a", "b"].map(PathBuf::from);
        for old in [None, Some(&files[..])] {
            let mut number = 0;
            loop {
                let root = tempfile::tempdir().unwrap();
                let path = root.path().join("fit");
                if old.is_some() {
                    write(&path, "old", None).unwrap();
                }
                let injector = Injector::new(root.path(), Fault::Fail, number);
                let written = write(&path, "new", old);
                let operations = injector.operations();
                drop(injector);
                let found = content(&path);
                let allowed = [old.map(|_| "oldold".to_owned()), Some("newnew".to_owned())];
                assert!(allowed.contains(&found), "{:?}: {found:?}", operations.get(number));
                if number >= operations.len() {
                    assert!(written.is_ok());
                    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
                    break;
                }
                number += 1;
            }
            assert!(number > 10, "{number}");
        }
    }

    #[test]
    fn foreign_files_survive() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("fit");
        write(&path, "old", None).unwrap();
        fs::write(path.join("thesis.tex"), "mine").unwrap();
        assert!(write(&path, "new", None).is_err(), "a directory with files was replaced");
        assert_eq!(content(&path).unwrap(), "oldold");
        let error = write(&path, "new", Some(&["a", "b"].map(PathBuf::from))).unwrap_err().to_string();
        let aside = error.split('`').nth(1).unwrap();
        assert_eq!(fs::read_to_string(Path::new(aside).join("thesis.tex")).unwrap(), "mine");
    }
}
