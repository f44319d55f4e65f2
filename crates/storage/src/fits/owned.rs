//! The files of a directory that this library wrote.
//!
//! A directory is replaced only if this library wrote every file in it, so that a wrong name never removes other files.

use std::fs;
use std::path::{Path, PathBuf};

use super::registry::FORMATS;
use crate::error::{Error, Problem, Result, shown};

/// Returns the files of a directory that holds only a fit of this library. The paths are relative to the directory.
///
/// # Errors
///
/// Returns an error that names the first other entry, or an error if the directory is empty.
pub(super) fn owned_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    list(directory, Path::new(""), &mut files)?;
    let nodes = zarr_nodes(directory);
    for file in &files {
        let own = match &nodes {
            Some(nodes) => is_of_store(file, nodes),
            None => is_of_chain(directory, file),
        };
        if !own {
            let detail = format!("`{}` in it is not a file of a fit", shown(file));
            return Err(Error::file(directory, Problem::Foreign { detail }));
        }
    }
    if files.is_empty() {
        return Err(Error::file(directory, Problem::Foreign { detail: "there is no fit in it".into() }));
    }
    Ok(files)
}

/// Appends the files below `directory`, which is relative to `root`.
fn list(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let fail = |error| Error::file(root, Problem::Io(error));
    for entry in fs::read_dir(root.join(directory)).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let path = directory.join(entry.file_name());
        let kind = entry.file_type().map_err(fail)?;
        if kind.is_dir() {
            list(root, &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        } else {
            let detail = format!("`{}` in it is not a regular file", shown(&path));
            return Err(Error::file(root, Problem::Foreign { detail }));
        }
    }
    Ok(())
}

/// Returns the groups and arrays of a Zarr store, or `None` if this library did not write it.
fn zarr_nodes(directory: &Path) -> Option<Vec<PathBuf>> {
    let root: serde_json::Value = serde_json::from_slice(&fs::read(directory.join("zarr.json")).ok()?).ok()?;
    if root["attributes"]["creation_library"] != "sgmcmc" {
        return None;
    }
    let nodes = root["consolidated_metadata"]["metadata"].as_object()?;
    Some(nodes.keys().map(PathBuf::from).chain([PathBuf::new()]).collect())
}

/// Returns whether a file is metadata or a chunk of one of the nodes.
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

/// Returns whether a sink or `save` wrote a file for a chain, by the name and the content of the file.
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
    // The file of a chain without draws is empty.
    let empty = || path.metadata().is_ok_and(|data| data.len() == 0);
    let Some(extension) = file.extension().and_then(|extension| extension.to_str()) else { return false };
    let mut formats = FORMATS.iter().filter(|entry| entry.extension == extension);
    formats.any(|entry| (entry.empty_chains && empty()) || (entry.is_own_chain)(&path))
}
