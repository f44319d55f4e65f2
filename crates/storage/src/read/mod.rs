//! Readers, one per format. Each ends in a [`Dataset`](sgmcmc_core::Dataset), or in a [`Column`](sgmcmc_core::data::Column) where
//! a file is one array.
//!
//! Text files and idx files may be compressed by gzip, in one or several members; that is seen from their first bytes, whatever
//! their name.
//!
//! Every reader has a [memory limit](crate::limit), so that a small file that unpacks to a huge one is an error.

mod csv;
mod idx;
mod libsvm;
#[cfg(feature = "ndarray-arrays")]
mod ndarray;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;

pub use csv::{Csv, Fields, Missing, Separator, Table, csv};
pub(crate) use idx::idx_bytes;
pub use idx::{idx, idx_within};
pub use libsvm::{Libsvm, SparseTable, libsvm};
#[cfg(feature = "ndarray-arrays")]
pub use ndarray::ndarray;
pub use npy::{npy, npy_within};
pub use npz::{npz, npz_within};
#[cfg(feature = "parquet")]
pub use parquet::{Parquet, parquet};
