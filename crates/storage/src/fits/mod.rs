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
mod content;
mod directory;
mod extra;
pub mod json;
pub mod native;
mod owned;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod stan_csv;
mod table;
#[cfg(feature = "zarr")]
pub mod zarr;

pub(crate) use append::claim;

use std::io::{self, BufWriter};
use std::path::Path;

use sgmcmc_samplers::run::Fit;

use self::content::{of_directory, of_file};
use crate::error::{Error, Problem, Result};
use crate::limit::memory_limit;
use crate::output::{File, write_atomically};

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
/// A fit that was not written to its end opens as far as it was written, with chains that count as stopped.
///
/// # Errors
///
/// With file and place: if nothing is there, it is of no known format or of one whose feature is off, it is damaged, or it takes more
/// memory than the [limit](crate::limit) allows.
pub fn open(path: impl AsRef<Path>) -> Result<Fit> {
    open_within(path, memory_limit())
}

/// As [`open`], with a limit of its own for the memory that the fit takes, in bytes.
///
/// # Errors
///
/// See [`open`].
pub fn open_within(path: impl AsRef<Path>, limit: u64) -> Result<Fit> {
    let path = path.as_ref();
    match Format::of_content(path)? {
        Format::Native => native::read_within(path, limit),
        Format::Json => json::read_within(path, limit),
        Format::StanCsv => stan_csv::read_within(path, limit),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read_within(path, limit),
        #[cfg(feature = "zarr")]
        Format::Zarr => zarr::read_within(path, limit),
        #[allow(unreachable_patterns, reason = "not with all features")]
        format => Err(absent(path, format)),
    }
}

/// Writes `fit` to `path`, in the format that its ending stands for: `.sgmcmc`, `.json`, `.csv`, `.parquet` or `.zarr`.
///
/// The fit is written beside `path` and takes its name when it is complete: if writing fails or the process is killed, `path` is as it
/// was. A file that was there is replaced. Stan CSV and Zarr make a directory, which must be empty or not exist yet; see [`replace`].
///
/// # Errors
///
/// If the name has another ending, the format's feature is off, or the file cannot be written.
pub fn save(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    put(fit, path.as_ref(), false)
}

/// As [`save`], and replaces a directory with a fit in it.
///
/// A directory is replaced only if all files in it were made by one of the formats of this library. Nothing is removed before the new
/// fit is complete.
///
/// # Errors
///
/// As [`save`], and if a directory has other files in it or is a fit that others wrote.
pub fn replace(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    put(fit, path.as_ref(), true)
}

fn put(fit: &Fit, path: &Path, over: bool) -> Result<()> {
    let into = |write: &dyn Fn(&Path) -> Result<()>| {
        if over { directory::replace(path, write) } else { directory::save(path, write) }
    };
    match Format::of_name(path).ok_or_else(|| Error::file(path, Problem::UnknownEnding))? {
        Format::Native => native::write(fit, path),
        Format::Json => json::write(fit, path),
        Format::StanCsv => into(&|directory| stan_csv::write_into(fit, directory)),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(fit, path),
        #[cfg(feature = "zarr")]
        Format::Zarr => into(&|directory| zarr::write_into(fit, directory)),
        #[allow(unreachable_patterns, reason = "not with all features")]
        format => Err(absent(path, format)),
    }
}

#[allow(dead_code, reason = "not with all features")]
fn absent(path: &Path, format: Format) -> Error {
    let feature = if format == Format::Parquet { "parquet" } else { "zarr" };
    Error::file(path, Problem::FeatureOff { feature })
}

/// Writes a file, all of it or nothing.
fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>) -> Result<()> {
    write_atomically(path, write).map_err(|error| Error::file(path, Problem::Io(error)))
}
