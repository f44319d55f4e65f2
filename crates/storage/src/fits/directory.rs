//! Fits that are directories of files: listing the files, and writing the directory atomically.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::owned;
use crate::error::{Error, Problem, Result};
use crate::output::AtomicDirectory;

/// Creates a directory that `write` fills, and renames it to `path` when it is complete.
///
/// # Errors
///
/// Returns an error if `path` is a directory with files in it, or if the directory cannot be written.
pub(super) fn save(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let fail = |error| Error::file(path, Problem::Io(error));
    if path.is_dir() && fs::read_dir(path).map_err(fail)?.next().is_some() {
        return Err(Error::file(path, Problem::NotEmpty));
    }
    fill(path, write)?.commit().map_err(fail)
}

/// Creates a directory like [`save`], and replaces a directory that holds only a fit of this library.
///
/// # Errors
///
/// Returns an error if the directory has other files, or if the new directory cannot be written.
pub(super) fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let fail = |error| Error::file(path, Problem::Io(error));
    if !path.is_dir() {
        return save(path, write);
    }
    // Checks before the new fit is written, so that an error comes early.
    owned::owned_files(path)?;
    let directory = fill(path, write)?;
    // Lists the files again, because they may have changed in the meantime.
    let files = owned::owned_files(path)?;
    directory.replace(&files).map_err(fail)
}

/// Creates the temporary directory and calls `write` with it.
fn fill(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<AtomicDirectory> {
    let fail = |error| Error::file(path, Problem::Io(error));
    let target = crate::output::resolve(path).map_err(fail)?;
    if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        crate::output::create_dir_all(parent).map_err(fail)?;
    }
    let directory = AtomicDirectory::create(path).map_err(fail)?;
    write(directory.directory())?;
    Ok(directory)
}

/// A file in a directory.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    /// The length in bytes. The file of a chain that has not reached its first flush is empty.
    pub(super) length: u64,
}

/// Returns the files of `directory` with content whose names end in `.extension`, in the order of [`all_files_in`].
pub(super) fn files_in(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let files = all_files_in(directory, extension)?.into_iter();
    Ok(files.filter(|file| file.length > 0).map(|file| file.path).collect())
}

/// Returns the last numbers in the names of the empty files of `directory` whose names end in `.extension`: the chains
/// that have begun and have no draws yet.
pub(super) fn begun_in(directory: &Path, extension: &str) -> Result<Vec<usize>> {
    let empty = all_files_in(directory, extension)?.into_iter().filter(|file| file.length == 0);
    let number = |file: Entry| {
        let stem = file.path.file_stem()?.to_str()?.to_owned();
        stem[stem.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()
    };
    Ok(empty.filter_map(number).collect())
}

/// Returns the files of `directory` whose names end in `.extension`, sorted by name, with numbers in the names compared
/// by value.
pub(super) fn all_files_in(directory: &Path, extension: &str) -> Result<Vec<Entry>> {
    let fail = |error| Error::file(directory, Problem::Io(error));
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension() != Some(OsStr::new(extension)) {
            continue;
        }
        if let Ok(data) = path.metadata()
            && data.is_file()
        {
            files.push(Entry { path, length: data.len() });
        }
    }
    files.sort_by_cached_key(|file| natural_key(&file.path.to_string_lossy()));
    Ok(files)
}

/// Returns a sort key that separates letters and numbers, so that `chain-10` comes after `chain-9`.
fn natural_key(name: &str) -> Vec<(String, Option<u64>)> {
    let mut parts = vec![(String::new(), None::<u64>)];
    for character in name.chars() {
        let last = parts.last_mut();
        match (last, character.to_digit(10)) {
            (Some((_, number)), Some(digit)) => {
                *number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit.into()));
            }
            (Some((text, None)), None) => text.push(character),
            (_, None) => parts.push((character.to_string(), None)),
            (None, Some(_)) => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::natural_key;

    #[test]
    fn files_are_sorted_by_their_numbers() {
        let mut names = vec!["chain-10.csv", "chain-9.csv", "chain-1.csv", "chain-0.csv", "a.csv"];
        names.sort_by_cached_key(|name| natural_key(name));
        assert_eq!(names, ["a.csv", "chain-0.csv", "chain-1.csv", "chain-9.csv", "chain-10.csv"]);
    }
}
