//! Zarr version 3 in ArviZ's schema. `arviz.from_zarr(path)` and `xarray.open_datatree(path, engine="zarr")` read it.
//!
//! The groups are `posterior` and `sample_stats` (`lp`, `weight`, `iteration` and the statistics of the run). The
//! dimensions are `chain`, `draw` and, for parameters of more than one element, `<name>_dim_0` and so on.
//! [`ZarrFit::write_group`] adds groups such as `log_likelihood`, `observed_data` and `posterior_predictive`, and a whole fit
//! is written with its [groups](Fit::groups). A `/` in
//! a name becomes `_`, and a name of a dimension gets an underscore. The original names, the shapes and the constraints
//! are in the attribute `sgmcmc` of the store.
//!
//! All chains of a run write chunks to one store. Each file is replaced atomically. The consolidated metadata in one
//! file determine the lengths of the arrays and are replaced after the chunks are written, so that all arrays grow at
//! the same time. A chain that is behind the others is padded with NaN at iteration 0, which the reader of this library
//! drops. The iteration of a draw is written after all its other numbers. The attribute also has the number of draws
//! that each chain was to make. A chain with fewer draws counts as stopped.

mod array;
mod chunks;
mod groups;
mod reader;
mod schema;
mod sink;
mod store;

pub use reader::read;
pub(super) use reader::read_within;
pub use sink::ZarrDraws;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sgmcmc_fit::sink::{Schema, Sink};
use sgmcmc_fit::{ChainDraws, Fit, Variable};

use self::store::Store;
use super::extra::Extra;
use super::table::{each_draw, stat_names};
use crate::error::Result;

/// The attribute with the metadata of this library.
const OWN: &str = "sgmcmc";

/// The output of a run in a Zarr store. It creates the sinks of the chains and writes other groups.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::fit::Variable;
/// use sgmcmc::storage::fits::{self, zarr::ZarrFit};
///
/// let path = std::env::temp_dir().join("sgmcmc-doc-run.zarr");
/// let output = ZarrFit::new(&path)?;
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// hmc(&model, &Dataset::none(), 0.5).chains(2).sample_into(&zeros([2]), 20, |_| output.chain())?;
/// let y = Variable { name: "y".into(), dimensions: vec!["i".into()], shape: vec![2], values: vec![0.5, 1.0] };
/// output.write_group("observed_data", &[y])?;
/// assert_eq!(fits::open(&path)?.chains().len(), 2);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ZarrFit {
    path: PathBuf,
    store: Arc<Mutex<Store>>,
}

impl ZarrFit {
    /// Opens the store at `path`, or creates it if it does not exist. Temporary files of killed processes are removed.
    ///
    /// The store is locked until the output, its clones and its sinks are dropped. Directories have no locks on systems
    /// other than Unix.
    ///
    /// # Errors
    ///
    /// Returns an error if another output has the store open, in this or another process, if the directory cannot be
    /// created, or if its metadata cannot be read.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        Ok(Self { store: Arc::new(Mutex::new(Store::open(&path)?)), path })
    }

    /// Returns the sink of one chain. The sink gets the number of the chain when the chain begins.
    pub fn chain(&self) -> ZarrDraws {
        ZarrDraws::new(self.path.clone(), Arc::clone(&self.store))
    }

    /// Writes another group of arrays, such as `log_likelihood` or `observed_data`.
    ///
    /// # Errors
    ///
    /// Returns an error if the sinks write a group of this name, the number of values or of dimensions of an array does
    /// not match its shape, or a file cannot be written.
    pub fn write_group(&self, group: &str, variables: &[Variable]) -> Result<()> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        groups::write(&mut store, group, variables)
    }
}

/// Writes a whole fit to the directory `path`, which appears when it is complete.
///
/// # Errors
///
/// Returns an error if the directory is not empty, or a file cannot be written.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::zarr;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-write.zarr");
/// zarr::write(&fit, &path)?;
/// assert_eq!(zarr::read(&path)?.chains(), fit.chains());
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    super::directory::save(path.as_ref(), |directory| write_into(fit, directory))
}

pub(super) fn write_into(fit: &Fit, directory: &Path) -> Result<()> {
    let zarr = ZarrFit { store: Arc::new(Mutex::new(Store::create(directory))), path: directory.to_path_buf() };
    let (stats, chains) = (stat_names(fit), fit.chains().len());
    let block = block(fit, &stats);
    for (number, chain) in fit.chains().iter().enumerate() {
        let mut sink = zarr.chain().with_block(block);
        let layout = fit.layout().clone();
        sink.begin(&Schema { layout, draws: chain.len(), chain: number, chains, stats: stats.clone() })?;
        each_draw(chain, &stats, |draw| sink.record(draw))?;
        sink.flush()?;
    }
    for group in fit.groups() {
        let plain =
            |variable: &Variable| Variable { name: variable.name.replace(['/', '\\'], "_"), ..variable.clone() };
        zarr.write_group(&group.name, &group.variables.iter().map(plain).collect::<Vec<_>>())?;
    }
    let mut store = zarr.store.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(store.commit(Some(Extra::from_fit(fit)))?)
}

/// Returns the number of draws per chunk of a whole fit: all draws of a chain, unless a chunk of the widest array would be
/// larger than 16 MiB.
fn block(fit: &Fit, stats: &[String]) -> usize {
    let widest = schema::arrays(fit.layout(), stats).iter().map(schema::Array::width).max().unwrap_or(1);
    let draws = fit.chains().iter().map(ChainDraws::len).max().unwrap_or(1);
    ((1 << 21) / widest.max(1)).clamp(1, draws.max(1))
}
