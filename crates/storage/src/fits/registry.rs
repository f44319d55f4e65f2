//! The table of fit formats.
//!
//! Reading, writing, recognition, error messages and the public list of formats are derived from [`FORMATS`]. A new
//! format needs a folder with its reader and writer, one row in this table, and tests.

use std::path::Path;

use sgmcmc_fit::Fit;

use super::recognize::{has_parquet_magic, is_own_parquet, is_parquet, is_zarr};
use super::{draws_csv, json, native, netcdf, stan_csv};
use crate::error::Result;

/// A function that reads a fit within a memory limit in bytes.
pub(super) type Read = fn(&Path, u64) -> Result<Fit>;

/// A function that writes a fit to a path.
pub(super) type Write = fn(&Fit, &Path) -> Result<()>;

/// The writer of a whole fit.
pub(super) enum Writer {
    /// Replaces a file atomically.
    File(Write),
    /// Fills an empty directory. The caller creates the directory and renames it when it is complete.
    Directory(Write),
    /// The format is written by its streaming sink only.
    SinkOnly,
}

/// The rule by which a directory is recognized.
pub(super) enum DirectoryRule {
    /// The format is never a directory.
    Never,
    /// A file in the root describes the whole directory. These rules are tried first.
    Root(fn(&Path) -> bool),
    /// At least one file with the extension of the format has the content of the format.
    AnyFile(fn(&Path) -> bool),
}

/// One format of files that hold a fit.
pub(crate) struct FormatEntry {
    /// The public identifier of the format.
    pub(super) format: Format,
    /// The name of the format in messages.
    pub(super) name: &'static str,
    /// The extension of file names, without the dot.
    pub(super) extension: &'static str,
    /// A short description for help texts.
    pub(super) description: &'static str,
    /// The cargo feature to enable, if the format is not compiled in.
    pub(super) missing_feature: Option<&'static str>,
    /// Returns whether the first bytes of a file are those of the format.
    pub(super) recognize: fn(&[u8]) -> bool,
    /// The rule for directories.
    pub(super) directory: DirectoryRule,
    /// Returns whether this library wrote a file of a chain. Such a file may be replaced together with its directory.
    pub(super) is_own_chain: fn(&Path) -> bool,
    /// True if the file of a chain without draws is empty.
    pub(super) empty_chains: bool,
    /// The reader, if the format is read.
    pub(super) read: Option<Read>,
    /// The writer of whole fits.
    pub(super) write: Writer,
}

impl FormatEntry {
    /// Returns whether [`save`](super::save) writes the format.
    pub(super) fn can_save(&self) -> bool {
        !matches!(self.write, Writer::SinkOnly)
    }
}

/// Defines [`Format`] and [`FORMATS`] from one list of rows.
macro_rules! formats {
    ($($(#[$documentation:meta])* $format:ident { $($field:tt)* })*) => {
        /// A format of files that hold a fit.
        ///
        /// # Examples
        ///
        /// ```
        /// use sgmcmc::storage::fits::Format;
        ///
        /// let format = Format::from_name("fit.json").unwrap();
        /// assert_eq!((format, format.extension()), (Format::Json, "json"));
        /// assert_eq!(Format::from_name("fit.txt"), None);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$documentation])* $format,)*
        }

        /// All formats. The order is that of recognition and of messages.
        pub(crate) static FORMATS: &[FormatEntry] = &[
            $(FormatEntry { format: Format::$format, $($field)* },)*
        ];
    };
}

formats! {
    /// The native format of this library, see [`native`](super::native).
    Native {
        name: "native",
        extension: native::EXTENSION,
        description: "native, keeps everything",
        missing_feature: None,
        recognize: native::recognize,
        directory: DirectoryRule::AnyFile(native::is_native),
        is_own_chain: native::is_native,
        empty_chains: true,
        read: Some(native::read_within),
        write: Writer::File(|fit, path| native::write(fit, path)),
    }
    /// Groups of nested arrays for ArviZ, see [`json`](super::json).
    Json {
        name: "JSON",
        extension: "json",
        description: "nested arrays, ArviZ",
        missing_feature: None,
        recognize: |start| start.trim_ascii_start().starts_with(b"{"),
        directory: DirectoryRule::Never,
        is_own_chain: |_| false,
        empty_chains: false,
        read: Some(json::read_within),
        write: Writer::File(|fit, path| json::write(fit, path)),
    }
    /// A table with one column per value.
    Parquet {
        name: "Parquet",
        extension: "parquet",
        description: "table, one row per draw",
        missing_feature: if cfg!(feature = "parquet") { None } else { Some("parquet") },
        recognize: has_parquet_magic,
        directory: DirectoryRule::AnyFile(is_parquet),
        is_own_chain: is_own_parquet,
        empty_chains: false,
        #[cfg(feature = "parquet")]
        read: Some(super::parquet::read_within),
        #[cfg(not(feature = "parquet"))]
        read: Some(off::read),
        #[cfg(feature = "parquet")]
        write: Writer::File(|fit, path| super::parquet::write(fit, path)),
        #[cfg(not(feature = "parquet"))]
        write: Writer::File(off::write),
    }
    /// An Arrow IPC file (Feather) with the columns of Parquet files.
    Arrow {
        name: "Arrow IPC",
        extension: "arrow",
        description: "table, one row per draw",
        missing_feature: if cfg!(feature = "arrow") { None } else { Some("arrow") },
        recognize: |start| start.starts_with(b"ARROW1"),
        directory: DirectoryRule::Never,
        is_own_chain: |_| false,
        empty_chains: false,
        #[cfg(feature = "arrow")]
        read: Some(super::arrow::read_within),
        #[cfg(not(feature = "arrow"))]
        read: Some(off::read),
        #[cfg(feature = "arrow")]
        write: Writer::File(|fit, path| super::arrow::write(fit, path)),
        #[cfg(not(feature = "arrow"))]
        write: Writer::File(off::write),
    }
    /// A Zarr store in ArviZ's schema.
    Zarr {
        name: "Zarr",
        extension: "zarr",
        description: "store in ArviZ's schema",
        missing_feature: if cfg!(feature = "zarr") { None } else { Some("zarr") },
        recognize: |_| false,
        directory: DirectoryRule::Root(is_zarr),
        is_own_chain: |_| false,
        empty_chains: false,
        #[cfg(feature = "zarr")]
        read: Some(super::zarr::read_within),
        #[cfg(not(feature = "zarr"))]
        read: Some(off::read),
        #[cfg(feature = "zarr")]
        write: Writer::Directory(super::zarr::write_into),
        #[cfg(not(feature = "zarr"))]
        write: Writer::Directory(off::write),
    }
    /// netCDF-4 in ArviZ's schema, for other programs, see [`netcdf`](super::netcdf).
    NetCdf {
        name: "netCDF",
        extension: "nc",
        description: "ArviZ and xarray; is not read",
        missing_feature: None,
        recognize: netcdf::recognize,
        directory: DirectoryRule::Never,
        is_own_chain: |_| false,
        empty_chains: false,
        read: None,
        write: Writer::File(|fit, path| netcdf::write(fit, path)),
    }
    /// CmdStan's text format, one file per chain, see [`stan_csv`](super::stan_csv).
    StanCsv {
        name: "Stan CSV",
        extension: "csv",
        description: "Stan, one file per chain",
        missing_feature: None,
        recognize: stan_csv::recognize,
        directory: DirectoryRule::AnyFile(stan_csv::is_stan_csv),
        is_own_chain: stan_csv::is_own,
        empty_chains: true,
        read: Some(stan_csv::read_within),
        write: Writer::Directory(stan_csv::write_into),
    }
    /// Plain CSV with one draw per line, one file per chain, see [`draws_csv`](super::draws_csv).
    DrawsCsv {
        name: "draws CSV",
        extension: "csv",
        description: "plain table, written by `CsvDraws` only",
        missing_feature: None,
        recognize: draws_csv::recognize,
        directory: DirectoryRule::AnyFile(draws_csv::is_draws_csv),
        // The files do not record which program wrote them.
        is_own_chain: |_| false,
        empty_chains: false,
        read: Some(draws_csv::read_within),
        write: Writer::SinkOnly,
    }
}

/// Placeholders for formats whose feature is off. The callers check `missing_feature` first.
#[cfg(not(all(feature = "arrow", feature = "parquet", feature = "zarr")))]
mod off {
    use std::path::Path;

    use sgmcmc_fit::Fit;

    use crate::error::{Error, Problem, Result};

    pub(super) fn read(path: &Path, _limit: u64) -> Result<Fit> {
        Err(Error::file(path, Problem::UnknownFormat { formats: super::listed_names() }))
    }

    pub(super) fn write(_fit: &Fit, path: &Path) -> Result<()> {
        Err(Error::file(path, Problem::UnknownExtension { extensions: super::listed_extensions() }))
    }
}

/// Returns the entry of a format.
pub(super) fn entry(format: Format) -> &'static FormatEntry {
    &FORMATS[format as usize]
}

/// Returns the names of all formats as an enumeration for messages, such as "native, JSON and Zarr".
pub(crate) fn listed_names() -> String {
    enumeration(FORMATS.iter().map(|entry| entry.name.to_owned()).collect(), "and")
}

/// Returns the extensions that [`save`](super::save) accepts as an enumeration for messages, such as ".json or .zarr".
pub(crate) fn listed_extensions() -> String {
    enumeration(super::extensions().iter().map(|extension| format!(".{extension}")).collect(), "or")
}

fn enumeration(mut words: Vec<String>, conjunction: &str) -> String {
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} {conjunction} {last}", words.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_enumeration() {
        assert!(FORMATS.iter().all(|row| entry(row.format).name == row.name));
    }

    #[test]
    fn one_ending_belongs_to_one_format_that_can_be_saved() {
        let endings = super::super::extensions();
        let count = FORMATS.iter().filter(|row| row.can_save()).count();
        assert_eq!(endings.len(), count);
    }

    #[test]
    fn messages_list_every_format() {
        assert_eq!(listed_names(), "native, JSON, Parquet, Arrow IPC, Zarr, netCDF, Stan CSV and draws CSV");
        assert_eq!(listed_extensions(), ".sgmcmc, .json, .parquet, .arrow, .zarr, .nc or .csv");
    }
}
