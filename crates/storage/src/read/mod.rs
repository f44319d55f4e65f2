//! Readers of data files, one per format.
//!
//! A reader returns [`Columns`], or a [`Column`](sgmcmc_gradient::data::Column) if the file is one array.
//! `into_dataset` of `sgmcmc::IntoDataset` converts columns to a data set.
//!
//! Text files and idx files may be compressed with gzip, in one or several members. Compression is recognized by the
//! first bytes, and the name of the file is ignored. Every reader has a [memory limit](crate::limit), so that a small
//! file that decompresses to a huge one is an error.
//!
//! # Examples
//!
//! ```
//! use sgmcmc::storage::read;
//!
//! let file = std::env::temp_dir().join("sgmcmc-doc-read.csv");
//! std::fs::write(&file, "age,label\n30,1\n41,0\n")?;
//! let columns = read::csv(&file).float("x", "age").float("y", "label").read()?;
//! assert_eq!(columns.observations(), 2);
//! # std::fs::remove_file(file)?;
//! # Ok::<(), sgmcmc::Error>(())
//! ```

mod csv;
mod idx;
mod json;
mod libsvm;
#[cfg(feature = "ndarray-crate")]
mod ndarray;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;

pub use csv::{Csv, Fields, Missing, Separator, Table, csv};
pub use idx::{idx, idx_bytes, idx_within};
pub use json::{JsonData, json, json_within};
pub use libsvm::{Libsvm, SparseTable, libsvm};
#[cfg(feature = "ndarray-crate")]
pub use ndarray::ndarray;
pub use npy::{npy, npy_within};
pub use npz::{npz, npz_within};
#[cfg(feature = "parquet")]
pub use parquet::{Parquet, parquet};

use std::ops::Range;
use std::path::Path;

use sgmcmc_gradient::Columns;

use crate::error::{Error, Problem, Result};

/// One of several parts of a file.
#[derive(Clone, Copy, Debug)]
struct Part {
    index: u64,
    count: u64,
}

impl Part {
    /// Returns the range of this part in a file of `length` units.
    fn of(self, length: u64) -> Result<Range<u64>, Problem> {
        if self.index >= self.count {
            let range = format!("less than the number of parts, {}", self.count);
            return Err(Problem::OutOfRange { what: "the number of a part", value: self.index.to_string(), range });
        }
        let bound = |index: u64| (u128::from(index) * u128::from(length) / u128::from(self.count)) as u64;
        Ok(bound(self.index)..bound(self.index + 1))
    }
}

/// Returns `columns` if they are a valid data set, and an error that names `path` otherwise.
fn checked(columns: Columns, path: &Path) -> Result<Columns> {
    columns.check().map_err(Error::content(path))?;
    Ok(columns)
}
