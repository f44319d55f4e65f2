//! Which files of a directory a format of this library made.
//!
//! A directory is replaced only if every file in it is one of these: a wrong name must not cost files of something else.

use std::fs;
use std::path::{Path, PathBuf};

use super::content;
use crate::error::{Error, Problem, Result, shown};

/// Returns the files of a directory that holds a fit of this library and nothing else, relative to it.
///
/// # Errors
///
/// Names the first entry that is something else.
pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    list(directory, Path::new(""), &mut files)?;
    let zarr = zarr_arrays(directory);
    for file in &files {
        let own = match &zarr {
            Some(nodes) => is_of_store(file, nodes),
            None => is_of_chain(directory, file),
        };
        if !own {
            let detail = format!("`{}` in it is no file of a fit", shown(file));
            return Err(Error::file(directory, Problem::Foreign { detail }));
        }
    }
    if files.is_empty() {
        return Err(Error::file(directory, Problem::Foreign { detail: "there is no fit in it".into() }));
    }
    Ok(files)
}

fn list(root: &Path, below: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let fail = |error| Error::file(root, Problem::Io(error));
    for entry in fs::read_dir(root.join(below)).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type().map_err(fail)?;
        if kind.is_dir() {
            list(root, &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        } else {
            let detail = format!("`{}` in it is no regular file", shown(&path));
            return Err(Error::file(root, Problem::Foreign { detail }));
        }
    }
    Ok(())
}

/// The groups and arrays of a Zarr store that this library wrote; none if it is something else.
fn zarr_arrays(directory: &Path) -> Option<Vec<PathBuf>> {
    let root: serde_json::Value = serde_json::from_slice(&fs::read(directory.join("zarr.json")).ok()?).ok()?;
    if root["attributes"]["creation_library"] != "sgmcmc" {
        return None;
    }
    let nodes = root["consolidated_metadata"]["metadata"].as_object()?;
    Some(nodes.keys().map(PathBuf::from).chain([PathBuf::new()]).collect())
}

/// Whether a file is metadata or a chunk of one of the nodes.
fn is_of_store(file: &Path, nodes: &[PathBuf]) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parent = file.parent().unwrap_or(Path::new(""));
    if name.starts_with(".unfinished-") && parent.as_os_str().is_empty() {
        return true;
    }
    if name == "zarr.json" {
        return nodes.iter().any(|node| node == parent);
    }
    nodes.iter().any(|node| {
        let Ok(inside) = file.strip_prefix(node) else { return false };
        let mut parts = inside.iter().filter_map(|part| part.to_str());
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        parts.next() == Some("c") && parts.all(is_number)
    })
}

/// Whether a file is one of those that sinks and `save` write for a chain, by its name and its content.
fn is_of_chain(directory: &Path, file: &Path) -> bool {
    let name = file.to_str().unwrap_or_default();
    if let Some(number) = name.strip_prefix(".chain-").and_then(|rest| rest.strip_suffix(".begun")) {
        return number.bytes().all(|byte| byte.is_ascii_digit());
    }
    if name.starts_with('.') && name.contains(".unfinished-") {
        return true;
    }
    if !name.starts_with("chain-") || name.contains(['/', '\\']) {
        return false;
    }
    let path = directory.join(file);
    // A chain that has no draws yet has an empty file.
    let empty = || path.metadata().is_ok_and(|data| data.len() == 0);
    match file.extension().and_then(|extension| extension.to_str()) {
        Some(super::native::EXTENSION) => empty() || content::is_native(&path),
        Some("csv") => empty() || content::is_own_stan(&path),
        Some("parquet") => content::is_own_parquet(&path),
        _ => false,
    }
}
