//! Zarr (version 3) in ArviZ's schema: `arviz.from_zarr(path)`, `xarray.open_datatree(path, engine="zarr")`.
//!
//! Groups `posterior` and `sample_stats` (`lp`, `weight`, `iteration` and the run's own) with the dimensions `chain`, `draw` and, for
//! parameters of more than one element, `<name>_dim_0` and so on; [`ZarrFit::write_group`] adds `log_likelihood`, `observed_data`,
//! `posterior_predictive` and others. A `/` in a name becomes `_`, and a name that a dimension has gets an underscore; the names as
//! they really are, shapes and constraints are in the attribute `sgmcmc` of the store.
//!
//! All chains of a run write to one store, chunk by chunk. Each file is replaced all or nothing, and what readers see of the store
//! follows from one of them, the consolidated metadata: the arrays become longer when it is replaced, all at once, after the chunks
//! are there. A chain that is behind the others shows NaN, at iteration 0; readers of this library leave that out. The iteration of
//! a draw is written after all its other numbers. The attribute also has the number of draws that each chain was to make: a chain
//! with fewer counts as stopped.

mod array;
mod chunks;
mod groups;
mod reader;
mod schema;
mod sink;
mod store;

pub use groups::Variable;
pub use reader::read;
pub(super) use reader::read_within;
pub use sink::ZarrDraws;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sgmcmc_samplers::run::Fit;
use sgmcmc_samplers::sink::{Schema, Sink};

use self::store::Store;
use super::extra::Extra;
use super::table::{each_draw, stat_names};
use crate::error::Result;

/// The attribute that has what only this library knows.
const OWN: &str = "sgmcmc";

/// A fit in a Zarr store: makes the sinks of its chains, and takes other groups.
#[derive(Clone, Debug)]
pub struct ZarrFit {
    path: PathBuf,
    store: Arc<Mutex<Store>>,
}

impl ZarrFit {
    /// The fit goes to the directory at `path`, which is made if it is not there. A store that is there is gone on with.
    ///
    /// # Errors
    ///
    /// If the directory cannot be made, or its metadata cannot be read.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        Ok(Self { store: Arc::new(Mutex::new(Store::open(&path)?)), path })
    }

    /// The sink of one chain. It learns the chain's number when the chain begins.
    pub fn chain(&self) -> ZarrDraws {
        ZarrDraws::new(self.path.clone(), Arc::clone(&self.store))
    }

    /// Writes a group of arrays beside the draws, such as `log_likelihood` or `observed_data`.
    ///
    /// # Errors
    ///
    /// If the group is one that the sinks write, an array has another number of values than its shape says or another number of
    /// dimensions than names for them, or a file cannot be written.
    pub fn write_group(&self, group: &str, variables: &[Variable]) -> Result<()> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        groups::write(&mut store, group, variables)
    }
}

/// Writes a whole fit to the directory `path`, which appears when it is complete.
///
/// # Errors
///
/// If the directory is not empty, or a file cannot be written.
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    super::directory::save(path.as_ref(), |directory| write_into(fit, directory))
}

pub(super) fn write_into(fit: &Fit, directory: &Path) -> Result<()> {
    let zarr = ZarrFit::new(directory)?;
    let stats = stat_names(fit);
    for (number, chain) in fit.chains().iter().enumerate() {
        let mut sink = zarr.chain();
        let layout = fit.layout().clone();
        sink.begin(&Schema { layout, draws: chain.len(), chain: number, stats: stats.clone() })?;
        each_draw(chain, &stats, |draw| sink.record(draw))?;
        sink.flush()?;
    }
    let mut store = zarr.store.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(store.commit(Some(Extra::of(fit)))?)
}
