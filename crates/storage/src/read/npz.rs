//! NumPy archives: a zip of `.npy` files, compressed or not.

use std::path::Path;

use sgmcmc_core::{Dataset, Named};
use zip::ZipArchive;
use zip::result::ZipError;

use super::npy::read_array;
use crate::error::{Error, Place, Problem, Result};
use crate::limit::{Budget, memory_limit};
use crate::source::open_plain;

/// Reads every array of a `.npz` file as a leaf of its name, in the order of the archive.
///
/// # Errors
///
/// With file and array, for the reasons [`npy`](super::npy) gives; and if the arrays make no data set, for instance because they
/// disagree on the number of observations.
pub fn npz(path: impl AsRef<Path>) -> Result<Dataset<Named>> {
    npz_within(path, memory_limit())
}

/// As [`npz`], with a limit of its own for the memory that all arrays take, in bytes.
///
/// # Errors
///
/// See [`npz`].
pub fn npz_within(path: impl AsRef<Path>, limit: u64) -> Result<Dataset<Named>> {
    let mut budget = Budget::new(limit);
    let path = path.as_ref();
    let refused = |name: Option<&str>, problem| {
        let place = Place { column: name.map(String::from), ..Place::default() };
        Error::at(path, place, problem)
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
    Dataset::from_columns(columns).map_err(Error::content(path))
}

fn problem(error: ZipError) -> Problem {
    match error {
        ZipError::Io(error) => Problem::reading(error),
        other => Problem::Corrupt { detail: other.to_string() },
    }
}
