//! Temporary names in the directory of the final name, and the removal of abandoned files.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lock::try_lock;

/// The part of a temporary name after the final name.
const MARK: &str = ".unfinished-";

/// Returns the directory of `path`.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a unique temporary path in the directory of `path`: `.<name>.unfinished-<process>-<number>`.
pub(crate) fn temporary_path(path: &Path) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut name = prefix(path);
    name.push(format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    parent(path).join(name)
}

/// Returns the common prefix of the temporary names of `path`.
fn prefix(path: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(MARK);
    name
}

/// Removes the temporary files and directories of killed processes. Those of running writers are locked and are kept.
pub(crate) fn remove_abandoned(path: &Path) -> io::Result<()> {
    let prefix = prefix(path);
    let Ok(entries) = fs::read_dir(parent(path)) else { return Ok(()) };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) {
            continue;
        }
        let Ok(file) = fs::File::open(entry.path()) else { continue };
        if try_lock(&file).unwrap_or(false) {
            if entry.file_type()?.is_dir() {
                crate::remove_dir_all(entry.path())?;
            } else {
                crate::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}
