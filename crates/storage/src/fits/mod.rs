//! Fits in files: written during a run, read by other tools, and read back.
//!
//! | format | extension | files of a run | readers |
//! |---|---|---|---|
//! | [native] | `.sgmcmc` | one file per chain | this library, with all metadata, bit for bit |
//! | [json] | `.json` | native files, converted to JSON at the end | `json.load` and `arviz.from_dict` |
//! | parquet (feature `parquet`) | `.parquet` | a directory of parts | `pandas.read_parquet`, polars, DuckDB |
//! | arrow (feature `arrow`) | `.arrow` | – | `pandas.read_feather`, polars, DuckDB |
//! | zarr (feature `zarr`) | `.zarr` | one store for all chains | `arviz.from_zarr`, `xarray.open_datatree` |
//! | [stan_csv] | `.csv` | one file per chain | `cmdstanpy.from_csv`, CmdStan's tools, R |
//! | [draws_csv] | `.csv` | one file per chain | `pandas.read_csv`, spreadsheets |
//!
//! [`open`] recognizes the format by the content. [`save`] chooses the format by the extension of the name; the extension
//! `.csv` means Stan CSV. [`formats`] lists all formats.
//!
//! # Examples
//!
//! ```
//! use sgmcmc::prelude::*;
//! use sgmcmc::storage::fits;
//!
//! let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
//! let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
//! let path = std::env::temp_dir().join("sgmcmc-doc-fits.json");
//! fits::save(&fit, &path)?;
//! assert_eq!(fits::open(&path)?.chains(), fit.chains());
//! # std::fs::remove_file(path)?;
//! # Ok::<(), sgmcmc::Error>(())
//! ```

mod append;
#[cfg(feature = "arrow")]
pub mod arrow;
mod chain_file;
mod directory;
pub mod draws_csv;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod draws_table;
mod extra;
pub mod json;
mod lines;
pub mod native;
pub mod netcdf;
mod owned;
#[cfg(feature = "parquet")]
pub mod parquet;
mod recognize;
pub(crate) mod registry;
pub mod stan_csv;
mod table;
mod time;
#[cfg(feature = "zarr")]
pub mod zarr;

use std::io::{self, BufWriter};
use std::path::Path;

use sgmcmc_fit::Fit;

use self::registry::{FORMATS, FormatEntry, Writer, entry};
use crate::checkpoint::FileCheckpoints;
use crate::error::{Error, Problem, Result};
use crate::limit::memory_limit;
use crate::output::{File, write_atomically};

pub use registry::Format;

impl Format {
    /// Returns the format that [`save`] chooses for a name, or `None` if the extension belongs to no format.
    pub fn from_name(path: impl AsRef<Path>) -> Option<Self> {
        let extension = path.as_ref().extension()?.to_str()?;
        FORMATS.iter().find(|entry| entry.can_save() && entry.extension == extension).map(|entry| entry.format)
    }

    /// Returns the format of the file or directory at `path` by its content.
    ///
    /// A file is recognized by its first bytes, a directory by the files in it.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing exists at `path` or its content has none of the formats.
    pub fn from_content(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let found =
            if path.is_dir() { recognize::recognize_directory(path)? } else { recognize::recognize_file(path)? };
        found.ok_or_else(|| Error::file(path, Problem::UnknownFormat { formats: registry::listed_names() }))
    }

    /// Returns the name of the format, such as `Stan CSV`.
    pub fn name(self) -> &'static str {
        entry(self).name
    }

    /// Returns the extension of file names, without the dot.
    pub fn extension(self) -> &'static str {
        entry(self).extension
    }

    /// Returns a short description for help texts.
    pub fn description(self) -> &'static str {
        entry(self).description
    }

    /// Returns whether the format keeps the [groups](Fit::groups) beside the draws.
    pub fn has_groups(self) -> bool {
        matches!(self, Self::Native | Self::Json | Self::Zarr | Self::NetCdf)
    }

    /// Returns whether the format is compiled in. Arrow, Parquet and Zarr need the features of these names.
    pub fn is_available(self) -> bool {
        entry(self).missing_feature.is_none()
    }

    /// Returns whether [`open`] reads the format. netCDF is for other programs.
    pub fn can_open(self) -> bool {
        entry(self).read.is_some()
    }

    /// Returns whether [`save`] writes the format. Otherwise only its streaming sink does.
    pub fn can_save(self) -> bool {
        entry(self).can_save()
    }
}

/// Returns all formats, including those that are not compiled in.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::fits;
///
/// for format in fits::formats() {
///     println!(".{:<8} {}: {}", format.extension(), format.name(), format.description());
/// }
/// assert!(fits::formats().any(|format| format.name() == "draws CSV"));
/// ```
pub fn formats() -> impl Iterator<Item = Format> {
    FORMATS.iter().map(|entry| entry.format)
}

/// Returns the extensions of names that [`save`] accepts, without the dot, including those of formats that are not
/// compiled in.
///
/// # Examples
///
/// ```
/// assert_eq!(sgmcmc::storage::fits::extensions(), ["sgmcmc", "json", "parquet", "arrow", "zarr", "nc", "csv"]);
/// ```
pub fn extensions() -> Vec<&'static str> {
    FORMATS.iter().filter(|entry| entry.can_save()).map(|entry| entry.extension).collect()
}

/// Reads the fit at `path`, a file or a directory in any of the [formats](self).
///
/// A directory of checkpoints is read as the draws in them, also while the run is under way. If the run was interrupted, the fit has the draws that were written, and the interrupted chains count as stopped.
///
/// # Errors
///
/// Returns an error with file and location if nothing exists at `path`, its format is unknown or not compiled in, the
/// content is damaged, or it needs more memory than the [limit](crate::limit) allows.
///
/// # Examples
///
/// See the [module](self).
pub fn open(path: impl AsRef<Path>) -> Result<Fit> {
    open_within(path, memory_limit())
}

/// Reads the fit at `path` within a limit on the memory that the fit takes, in bytes.
///
/// # Errors
///
/// Returns an error in the cases of [`open`].
pub fn open_within(path: impl AsRef<Path>, limit: u64) -> Result<Fit> {
    let path = path.as_ref();
    // A directory of checkpoints has the draws of a run that keeps them in memory.
    if path.is_dir()
        && let Some(fit) = FileCheckpoints::open_fit(path, limit)?
    {
        return Ok(fit);
    }
    let entry = entry(Format::from_content(path)?);
    require_feature(entry, path)?;
    match entry.read {
        Some(read) => read(path, limit),
        None => Err(Error::file(path, Problem::WriteOnly { format: entry.name })),
    }
}

/// Writes `fit` to `path`, in the format of the extension of its name, see [`extensions`].
///
/// The fit is written to a temporary name in the same directory, which is renamed when the fit is complete. If writing
/// fails or the process is killed, the file at `path` is unchanged. An existing file is replaced. Stan CSV and Zarr
/// write a directory, which must be empty or not exist; [`replace`] replaces it.
///
/// # Errors
///
/// Returns an error if the extension belongs to no format, the format is not compiled in, or the file cannot be written.
///
/// # Examples
///
/// See the [module](self).
pub fn save(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    write(fit, path.as_ref(), false)
}

/// Writes `fit` to `path` like [`save`], and replaces a directory that holds a fit.
///
/// A directory is replaced only if this library wrote all files in it. Nothing is removed before the new fit is
/// complete.
///
/// # Errors
///
/// Returns an error in the cases of [`save`], and if the directory has files that this library did not write.
pub fn replace(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    write(fit, path.as_ref(), true)
}

fn write(fit: &Fit, path: &Path, replace: bool) -> Result<()> {
    let format = Format::from_name(path)
        .ok_or_else(|| Error::file(path, Problem::UnknownExtension { extensions: registry::listed_extensions() }))?;
    let entry = entry(format);
    require_feature(entry, path)?;
    match entry.write {
        Writer::File(write) => write(fit, path),
        Writer::Directory(write) if replace => directory::replace(path, |directory| write(fit, directory)),
        Writer::Directory(write) => directory::save(path, |directory| write(fit, directory)),
        Writer::SinkOnly => {
            Err(Error::file(path, Problem::UnknownExtension { extensions: registry::listed_extensions() }))
        }
    }
}

/// Returns an error if the format of `entry` is not compiled in.
fn require_feature(entry: &FormatEntry, path: &Path) -> Result<()> {
    match entry.missing_feature {
        Some(feature) => Err(Error::file(path, Problem::FeatureOff { feature })),
        None => Ok(()),
    }
}

/// Writes a file atomically.
fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>) -> Result<()> {
    write_atomically(path, write).map_err(|error| Error::file(path, Problem::Io(error)))
}
