//! Checks of outputs: the input is never overwritten, and existing files only with `--force`.

use std::fs;
use std::path::{Path, PathBuf};

use sgmcmc_storage::fits::Format;

use crate::error::Error;

/// Checks that `output` can be written.
///
/// # Errors
///
/// Returns an error if the output exists and `force` is not set, if it is a symbolic link whose target does not exist,
/// or if writing it would overwrite the input.
pub(crate) fn check(input: &Path, output: &Path, force: bool) -> Result<(), Error> {
    if output.is_symlink() && !output.exists() {
        return Err(Error::DanglingLink(output.to_owned()));
    }
    // Writing to terminals and pipes does not replace anything.
    if fs::metadata(output).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        return Ok(());
    }
    if let (Ok(source), Some(target)) = (fs::canonicalize(input), absolute(output)) {
        if source.starts_with(&target) {
            return Err(Error::OverwritesInput { input: input.to_owned(), output: output.to_owned() });
        }
        // A fit inside the directory of a fit of the same format would become a part of it.
        if target.starts_with(&source) && Format::from_name(&target) == Format::from_content(&source).ok() {
            return Err(Error::OverwritesInput { input: input.to_owned(), output: output.to_owned() });
        }
    }
    check_new(output, force)
}

/// Checks that `output` does not exist, unless `force` is set.
///
/// # Errors
///
/// Returns an error if the output exists and `force` is not set.
pub(crate) fn check_new(output: &Path, force: bool) -> Result<(), Error> {
    if output.exists() && !force { Err(Error::Exists(output.to_owned())) } else { Ok(()) }
}

/// Returns the absolute path of a file that may not exist yet.
fn absolute(path: &Path) -> Option<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Some(path);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
}
