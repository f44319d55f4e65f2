//! Outputs that may be written: never the input, and nothing that is there unless the user says so.

use std::fs;
use std::path::{Path, PathBuf};

use sgmcmc_storage::fits::Format;

use crate::error::Error;

/// Refuses an output that exists, unless `force` is set, that is a symbolic link to nothing, or whose loss would cost the input.
pub(crate) fn check(input: &Path, output: &Path, force: bool) -> Result<(), Error> {
    if output.is_symlink() && !output.exists() {
        return Err(Error::Dangling(output.to_owned()));
    }
    // Terminals, pipes and the like take what is written and keep what they have.
    if fs::metadata(output).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
        return Ok(());
    }
    if let (Ok(source), Some(place)) = (fs::canonicalize(input), place(output)) {
        if source.starts_with(&place) {
            return Err(Error::OntoInput { input: input.to_owned(), output: output.to_owned() });
        }
        // A fit among the files of a fit of the same format would become a part of it.
        if place.starts_with(&source) && Format::of_name(&place) == Format::of_content(&source).ok() {
            return Err(Error::OntoInput { input: input.to_owned(), output: output.to_owned() });
        }
    }
    if output.exists() && !force {
        return Err(Error::Exists(output.to_owned()));
    }
    Ok(())
}

/// The absolute path of something that may not exist yet.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(place) = fs::canonicalize(path) {
        return Some(place);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
}
