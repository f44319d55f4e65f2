//! NumPy archives: zip files of `.npy` files, with or without compression.

use std::path::Path;

use sgmcmc_gradient::Columns;
use zip::ZipArchive;
use zip::result::ZipError;

use super::checked;
use super::npy::read_array;
use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::{Budget, memory_limit};
use crate::source::open_plain;

/// Reads the arrays of a `.npz` file as leaves with the same names, in the order of the archive.
///
/// # Errors
///
/// Returns an error with file and array in the cases of [`npy`](super::npy()), and if the arrays have different numbers
/// of observations.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-missing.npz");
/// let error = read::npz(&file).unwrap_err();
/// assert!(error.to_string().contains("sgmcmc-doc-missing.npz"));
/// ```
pub fn npz(path: impl AsRef<Path>) -> Result<Columns> {
    npz_within(path, memory_limit())
}

/// Reads a `.npz` file like [`npz`], within a limit on the memory of all arrays in bytes.
///
/// # Errors
///
/// Returns an error in the cases of [`npz`].
pub fn npz_within(path: impl AsRef<Path>, limit: u64) -> Result<Columns> {
    let mut budget = Budget::new(limit);
    let path = path.as_ref();
    let refused = |name: Option<&str>, problem| {
        let position = FilePosition { column: name.map(String::from), ..FilePosition::default() };
        Error::at_position(path, position, problem)
    };
    let mut archive = ZipArchive::new(open_plain(path)?).map_err(|error| refused(None, problem(error)))?;
    let mut columns = Vec::new();
    for member in 0..archive.len() {
        let mut file = archive.by_index(member).map_err(|error| refused(None, problem(error)))?;
        let name = file.name().map_err(|error| refused(None, problem(error)))?;
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
        if file.size() > budget.left() {
            return Err(refused(Some(&name), budget.exceeded()));
        }
        let array = read_array(&mut file, &mut budget).map_err(|problem| refused(Some(&name), problem))?;
        columns.push(array.column(path, &name)?);
    }
    if columns.is_empty() {
        return Err(refused(None, Problem::Empty));
    }
    checked(columns.into(), path)
}

fn problem(error: ZipError) -> Problem {
    match error {
        ZipError::Io(error) => Problem::reading(error),
        other => Problem::Corrupt { detail: other.to_string() },
    }
}
