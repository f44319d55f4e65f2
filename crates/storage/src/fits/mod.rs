//! Fits in files: written while a run goes on, read by other tools, and read back.
//!
//! | format | ending | written by a run | read by |
//! |---|---|---|---|
//! | [native] | `.sgmcmc` | one file per chain | this library, with all it knows, bit for bit |
//! | [json] | `.json` | native files, turned into JSON at the end | `json.load` and `arviz.from_dict` |
//! | [stan_csv] | `.csv` | one file per chain | `cmdstanpy.from_csv`, CmdStan's tools, R |
//! | parquet (feature `parquet`) | `.parquet` | a directory of parts | `pandas.read_parquet`, polars, DuckDB |
//! | zarr (feature `zarr`) | `.zarr` | one store for all chains | `arviz.from_zarr`, `xarray.open_datatree` |
//!
//! [`open`] finds the format by itself; [`save`] goes by the ending of the name.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use sgmcmc_core::Layout;
//! use sgmcmc_samplers::run::{ChainDraws, Fit};
//! use sgmcmc_samplers::sink::Draw;
//! use sgmcmc_storage::fits;
//!
//! let layout = Layout::new([("mu".into(), vec![1], None)])?;
//! let mut chain = ChainDraws::new(1, vec![]);
//! chain.push(&Draw { iteration: 1, values: &[0.5], weight: 1.0, log_posterior: -1.0, stats: &[] })?;
//! let fit = Fit::new(layout, vec![chain])?;
//!
//! let directory = tempfile::tempdir()?;
//! let path = directory.path().join("fit.sgmcmc");
//! fits::save(&fit, &path)?;
//! assert_eq!(fits::open(&path)?, fit);
//! # Ok(())
//! # }
//! ```

mod append;
pub mod json;
pub mod native;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod stan_csv;
mod table;
#[cfg(feature = "zarr")]
pub mod zarr;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use sgmcmc_samplers::run::Fit;

use crate::error::{Error, Problem, Result};

/// A format of files that hold a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// The library's own.
    Native,
    /// Groups of nested arrays.
    Json,
    /// CmdStan's, one file per chain.
    StanCsv,
    /// A table with a column per value.
    Parquet,
    /// ArviZ's schema.
    Zarr,
}

impl Format {
    /// The format that the ending of a name stands for.
    pub fn of_name(path: impl AsRef<Path>) -> Option<Self> {
        match path.as_ref().extension()?.to_str()? {
            native::EXTENSION => Some(Self::Native),
            "json" => Some(Self::Json),
            "csv" => Some(Self::StanCsv),
            "parquet" => Some(Self::Parquet),
            "zarr" => Some(Self::Zarr),
            _ => None,
        }
    }

    /// The format of what is at `path`, by its content: the first bytes of a file, or what a directory holds.
    ///
    /// # Errors
    ///
    /// If nothing is there, or it is none of them.
    pub fn of_content(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let found = if path.is_dir() { of_directory(path)? } else { of_file(path)? };
        found.ok_or_else(|| Error::file(path, Problem::UnknownFormat))
    }
}

/// Reads the fit at `path`, a file or a directory, whatever its format.
///
/// # Errors
///
/// With file and place: if nothing is there, it is of no known format or of one whose feature is off, or it is damaged.
pub fn open(path: impl AsRef<Path>) -> Result<Fit> {
    let path = path.as_ref();
    match Format::of_content(path)? {
        Format::Native => native::read(path),
        Format::Json => json::read(path),
        Format::StanCsv => stan_csv::read(path),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(path),
        #[cfg(feature = "zarr")]
        Format::Zarr => zarr::read(path),
        #[allow(unreachable_patterns, reason = "not with all features")]
        format => Err(absent(path, format)),
    }
}

/// Writes `fit` to `path`, in the format that its ending stands for: `.sgmcmc`, `.json`, `.csv`, `.parquet` or `.zarr`.
///
/// A file that was there is replaced. Stan CSV and Zarr make a directory, which must not be there yet.
///
/// # Errors
///
/// If the name has another ending, the format's feature is off, or the file cannot be written.
pub fn save(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    match Format::of_name(path).ok_or_else(|| Error::file(path, Problem::UnknownEnding))? {
        Format::Native => native::write(fit, path),
        Format::Json => json::write(fit, path),
        Format::StanCsv => stan_csv::write(fit, path),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(fit, path),
        #[cfg(feature = "zarr")]
        Format::Zarr => zarr::write(fit, path),
        #[allow(unreachable_patterns, reason = "not with all features")]
        format => Err(absent(path, format)),
    }
}

#[allow(dead_code, reason = "not with all features")]
fn absent(path: &Path, format: Format) -> Error {
    let feature = if format == Format::Parquet { "parquet" } else { "zarr" };
    Error::file(path, Problem::FeatureOff { feature })
}

fn of_directory(path: &Path) -> Result<Option<Format>> {
    if ["zarr.json", ".zgroup", ".zmetadata"].iter().any(|name| path.join(name).is_file()) {
        return Ok(Some(Format::Zarr));
    }
    let formats = [(Format::Native, native::EXTENSION), (Format::Parquet, "parquet"), (Format::StanCsv, "csv")];
    for (format, extension) in formats {
        if !files_in(path, extension)?.is_empty() {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

fn of_file(path: &Path) -> Result<Option<Format>> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
    file.take(1 << 12).read_to_end(&mut start).map_err(|error| Error::file(path, Problem::Io(error)))?;
    if start.is_empty() {
        return Err(Error::file(path, Problem::NoDraws));
    }
    let text = start.trim_ascii_start();
    Ok(match () {
        () if native::MAGIC.starts_with(&start[..start.len().min(8)]) => Some(Format::Native),
        () if start.starts_with(b"PAR1") => Some(Format::Parquet),
        () if text.starts_with(b"{") => Some(Format::Json),
        () if text.starts_with(b"#") || text.starts_with(b"lp__") => Some(Format::StanCsv),
        () => None,
    })
}

/// The files of `directory` whose names end in `.extension`, in the order of their names, numbers in them by value. Empty ones are
/// those of chains that have not come to their first flush.
fn files_in(directory: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let fail = |error| Error::file(directory, Problem::Io(error));
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let holds = |path: &Path| path.metadata().is_ok_and(|data| data.is_file() && data.len() > 0);
        if path.extension() == Some(OsStr::new(extension)) && holds(&path) {
            files.push(path);
        }
    }
    files.sort_by_cached_key(|path| numbered(&path.to_string_lossy()));
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

/// Lets `write` make a file of another name, and gives it the name `path` when it is whole.
fn replace(path: &Path, write: impl FnOnce(&Path) -> sgmcmc_core::Result<()>) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    let unfinished = PathBuf::from(name);
    write(&unfinished)?;
    fs::rename(&unfinished, path).map_err(|error| Error::file(path, Problem::Io(error)))
}

/// Makes the directory a fit goes to. One that has files in it is not touched.
fn make_directory(path: &Path) -> Result<()> {
    let fail = |error| Error::file(path, Problem::Io(error));
    fs::create_dir_all(path).map_err(fail)?;
    if fs::read_dir(path).map_err(fail)?.next().is_some() {
        return Err(Error::file(path, Problem::NotEmpty));
    }
    Ok(())
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
