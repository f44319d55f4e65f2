//! Directories of files that appear under their name when they are complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic::resolve;
use crate::beside::{parent, remove_abandoned, unused};
use crate::file::try_lock;
use crate::operations::{
    create_dir, exchange, remove_dir, remove_dir_all, remove_file, rename, sync_directory, sync_tree,
};

/// A directory written beside its final place, which takes its name in [`commit`](Self::commit) or [`replace`](Self::replace).
///
/// Dropped before that, it is removed with all files in it, and what is at the final place stays as it was.
#[derive(Debug)]
pub struct AtomicDirectory {
    /// Where it is written.
    directory: PathBuf,
    /// The final place.
    path: PathBuf,
    committed: bool,
    /// Locked, so that other processes see that it is not abandoned.
    _lock: Option<fs::File>,
}

impl AtomicDirectory {
    /// Starts a directory that is to appear at `path`. A symbolic link is followed.
    ///
    /// # Errors
    ///
    /// Returns an error if `path` is a symbolic link to nothing, or if no directory can be made beside it.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = resolve(path.as_ref())?;
        remove_abandoned(&path)?;
        let directory = unused(&path);
        create_dir(&directory)?;
        let lock = fs::File::open(&directory).ok().filter(|file| try_lock(file).unwrap_or(false));
        Ok(Self { directory, path, committed: false, _lock: lock })
    }

    /// Returns the directory to write files to.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Gives the directory its name, which no file and no directory with content may have.
    ///
    /// # Errors
    ///
    /// Returns an error of kind `DirectoryNotEmpty` or `AlreadyExists` if the name is in use, or the error of the operating system.
    pub fn commit(mut self) -> io::Result<()> {
        sync_tree(&self.directory)?;
        if self.path.symlink_metadata().is_ok_and(|data| !data.is_dir()) {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        // An empty directory is replaced by the rename itself on Unix.
        #[cfg(not(unix))]
        let _ = fs::remove_dir(&self.path);
        rename(&self.directory, &self.path)?;
        self.committed = true;
        sync_directory(parent(&self.path))
    }

    /// Gives the directory its name in place of a directory that has `files` and nothing else, which are removed.
    ///
    /// The paths in `files` are relative to the directory. On Linux both directories exchange their names in one step; elsewhere the
    /// name belongs to neither of them for a moment.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system. If a file appeared that is not among `files`, the error says where it is now.
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

    /// Exchanges the two directories in three steps.
    fn swap(&self) -> io::Result<()> {
        let aside = unused(&self.path);
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
            // Whoever dropped it has an error to report already.
            let _ = remove_dir_all(&self.directory);
        }
    }
}

/// Removes the files, then the directories they were in, which must be empty by then.
fn remove_listed(root: &Path, files: &[PathBuf]) -> io::Result<()> {
    for file in files {
        remove_file(root.join(file))?;
    }
    remove_empty(root)
}

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

    /// Writes two files and gives them the name, in place of old ones where there are some.
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
            let mut at = 0;
            loop {
                let root = tempfile::tempdir().unwrap();
                let path = root.path().join("fit");
                if old.is_some() {
                    write(&path, "old", None).unwrap();
                }
                let injector = Injector::new(root.path(), Fault::Fail, at);
                let written = write(&path, "new", old);
                let operations = injector.operations();
                drop(injector);
                let found = content(&path);
                let allowed = [old.map(|_| "oldold".to_owned()), Some("newnew".to_owned())];
                assert!(allowed.contains(&found), "{:?}: {found:?}", operations.get(at));
                if at >= operations.len() {
                    assert!(written.is_ok());
                    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
                    break;
                }
                at += 1;
            }
            assert!(at > 10, "{at}");
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
