//! Files that are written under a temporary name and renamed when they are complete.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::beside::{parent, remove_abandoned, temporary_path};
use crate::file::File;
use crate::{remove_file, rename, sync_directory};

/// A file under a temporary name that [`commit`](Self::commit) renames to its final name.
///
/// If it is dropped before, the temporary file is removed and a file with the final name is unchanged. The temporary
/// files of killed processes are removed by the next `AtomicFile` with the same final name.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use sgmcmc::storage::output::AtomicFile;
///
/// let path = std::env::temp_dir().join("sgmcmc-doc-atomic-file.txt");
/// let mut file = AtomicFile::create(&path)?;
/// file.file().write_all(b"content")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"content");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    /// The final path.
    path: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Creates a temporary file that will be renamed to `path`. A symbolic link is followed: its target is replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if `path` is a directory or a dangling symbolic link, or if the temporary file cannot be
    /// created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = resolve(path.as_ref())?;
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        remove_abandoned(&path)?;
        let file = loop {
            let file = File::create_new(temporary_path(&path))?;
            // Another process that searches for abandoned files may hold the lock. The file is then created again.
            match file.try_lock() {
                Ok(true) => break file,
                Ok(false) => continue,
                Err(error) => {
                    let _ = remove_file(file.path());
                    return Err(error);
                }
            }
        };
        let atomic = Self { file, path, committed: false };
        // The permissions of the replaced file are kept. A new file has the default permissions.
        if let Ok(old) = fs::metadata(&atomic.path) {
            atomic.file.set_permissions(old.permissions())?;
        }
        Ok(atomic)
    }

    /// Returns the file to write to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Synchronizes the content with the disk and renames the file to its final name.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system. The old file is then unchanged, unless the error is from the last
    /// step, which synchronizes the directory.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        rename(self.file.path(), &self.path)?;
        self.committed = true;
        sync_directory(parent(&self.path))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            // The caller already has an error to report.
            let _ = remove_file(self.file.path());
        }
    }
}

/// Writes a temporary file, synchronizes it with the disk, and renames it to `path`.
///
/// A symbolic link is followed. A path that is not a regular file, such as `/dev/stdout` or a pipe, is written
/// directly.
///
/// # Errors
///
/// Returns the error of `write` or of the operating system. The file at `path` is then unchanged, and the temporary
/// file is removed.
///
/// # Examples
///
/// See the [crate](crate).
pub fn write_atomically(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<()> {
    let path = path.as_ref();
    if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        let mut file = File::open(path)?;
        return write_buffered(&mut file, write);
    }
    let mut atomic = AtomicFile::create(path)?;
    write_buffered(atomic.file(), write)?;
    atomic.commit()
}

/// Calls `write` with a buffered writer of `file`.
fn write_buffered(file: &mut File, write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(1 << 16, file);
    let written = write(&mut buffer).and_then(|()| buffer.flush());
    // After an error, the rest of the buffer must not be written on drop.
    let _ = buffer.into_parts();
    written
}

/// Returns the target of a symbolic link, or the path itself if it is not a link.
///
/// # Errors
///
/// Returns an error of kind `NotFound` if it is a dangling symbolic link.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    if !path.is_symlink() {
        return Ok(path.to_path_buf());
    }
    fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(
            io::ErrorKind::NotFound,
            "it is a symbolic link to nothing: remove it or choose another name",
        ),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::{Fault, Injector};

    fn entries(directory: &Path) -> Vec<String> {
        let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_failure_of_any_operation_leaves_the_old_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        let write = |text: &'static str| write_atomically(&path, |file| file.write_all(text.as_bytes()));
        write("old").unwrap();
        let counter = Injector::new(directory.path(), Fault::None, 0);
        write("old").unwrap();
        let operations = counter.operations();
        drop(counter);
        assert!(operations.len() >= 6, "{operations:?}");
        for number in 0..operations.len() {
            for fault in [Fault::Fail, Fault::FailFrom] {
                fs::write(&path, "old").unwrap();
                let injector = Injector::new(directory.path(), fault, number);
                let written = write("new");
                drop(injector);
                // Only the synchronization of the directory comes after the rename.
                let expected = if number + 1 == operations.len() { "new" } else { "old" };
                assert!(written.is_err(), "{:?}", operations[number]);
                assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{:?}", operations[number]);
                assert_eq!(entries(directory.path()), ["a.txt"], "{:?}", operations[number]);
            }
        }
    }

    #[test]
    fn an_error_of_the_writer_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        let written = write_atomically(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(written.unwrap_err().to_string(), "no more");
        assert!(entries(directory.path()).is_empty());
    }

    #[test]
    fn abandoned_files_are_removed_and_files_in_use_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        fs::write(directory.path().join(".a.txt.unfinished-1-0"), "left by a kill").unwrap();
        fs::write(directory.path().join(".b.txt.unfinished-1-0"), "of another file").unwrap();
        let in_use = AtomicFile::create(&path).unwrap();
        write_atomically(&path, |file| file.write_all(b"whole")).unwrap();
        let mut names = entries(directory.path());
        names.sort();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names[0].starts_with(".a.txt.unfinished-") && names[0] != ".a.txt.unfinished-1-0", "{names:?}");
        assert_eq!(names[1..], [".b.txt.unfinished-1-0", "a.txt"]);
        drop(in_use);
        assert_eq!(fs::read_to_string(path).unwrap(), "whole");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_are_written() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&target, &link).unwrap();
        write_atomically(&link, |file| file.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        fs::remove_file(&target).unwrap();
        let dangling = write_atomically(&link, |file| file.write_all(b"new")).unwrap_err();
        assert!(dangling.to_string().contains("symbolic link to nothing"), "{dangling}");
        assert!(link.is_symlink());
        write_atomically("/dev/null", |file| file.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(write_atomically(directory.path(), |_| Ok(())).is_err());
    }
}
