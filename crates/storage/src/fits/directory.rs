//! Fits that are directories of files: listing them, and writing them all or nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::owned;
use crate::error::{Error, Problem, Result};
use crate::output::AtomicDirectory;

/// Lets `write` fill a directory, which takes the name `path` when it is complete. A directory with files in it is not touched.
pub(super) fn save(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let fail = |error| Error::file(path, Problem::Io(error));
    if path.is_dir() && fs::read_dir(path).map_err(fail)?.next().is_some() {
        return Err(Error::file(path, Problem::NotEmpty));
    }
    filled(path, write)?.commit().map_err(fail)
}

/// As [`save`], in place of a directory that holds a fit of this library and nothing else.
pub(super) fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let fail = |error| Error::file(path, Problem::Io(error));
    if !path.is_dir() {
        return save(path, write);
    }
    // Before the new fit is written, so that nothing is in vain.
    owned::files(path)?;
    let directory = filled(path, write)?;
    // Again: what is removed is what is there now.
    let files = owned::files(path)?;
    directory.replace(&files).map_err(fail)
}

fn filled(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<AtomicDirectory> {
    let fail = |error| Error::file(path, Problem::Io(error));
    let target = crate::output::resolve(path).map_err(fail)?;
    if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        crate::output::create_dir_all(parent).map_err(fail)?;
    }
    let directory = AtomicDirectory::create(path).map_err(fail)?;
    write(directory.directory())?;
    Ok(directory)
}

/// The files of `directory` whose names end in `.extension`, in the order of their names, numbers in them by value. Empty ones are
/// those of chains that have not come to their first flush, see [`begun_in`].
pub(super) fn files_in(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = listed(directory, extension)?;
    files.retain(|(_, length)| *length > 0);
    let mut files: Vec<PathBuf> = files.into_iter().map(|(path, _)| path).collect();
    files.sort_by_cached_key(|path| numbered(&path.to_string_lossy()));
    Ok(files)
}

/// The last numbers in the names of the empty files of `directory` whose names end in `.extension`: chains that have begun and have
/// no draws yet.
pub(super) fn begun_in(directory: &Path, extension: &str) -> Result<Vec<usize>> {
    let empty = listed(directory, extension)?.into_iter().filter(|(_, length)| *length == 0);
    let number = |(path, _): (PathBuf, u64)| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        stem[stem.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()
    };
    Ok(empty.filter_map(number).collect())
}

fn listed(directory: &Path, extension: &str) -> Result<Vec<(PathBuf, u64)>> {
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
            files.push((path, data.len()));
        }
    }
    Ok(files)
}

/// `chain-10` after `chain-9`: letters and numbers apart.
fn numbered(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0_u64)];
    for character in name.chars() {
        let last = parts.last_mut();
        match (last, character.to_digit(10)) {
            (Some((_, number)), Some(digit)) => *number = number.saturating_mul(10).saturating_add(digit.into()),
            (Some((text, 0)), None) => text.push(character),
            (_, None) => parts.push((character.to_string(), 0)),
            (None, Some(_)) => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn files_are_in_the_order_of_their_numbers() {
        let mut names = vec!["chain-10.csv", "chain-9.csv", "chain-1.csv", "a.csv"];
        names.sort_by_cached_key(|name| numbered(name));
        assert_eq!(names, ["a.csv", "chain-1.csv", "chain-9.csv", "chain-10.csv"]);
    }
}
