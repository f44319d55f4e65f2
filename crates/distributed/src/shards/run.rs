//! Runs on all shards: see [`Shards::run`].

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use sgmcmc_fit::{ChainOutcome, Fit, RunInfo, ShardInfo};

use super::{Error, Result, Shard, ShardFailure, Shards};
use crate::combine::{Combination, CombineOptions, combine_fits};

impl Shards {
    /// Calls `sample` for every shard, in parallel, and keeps the fits.
    ///
    /// `sample` is any run on [`Shard::model`] or [`Shard::target`], with its own settings, tuning and checkpoints. Give
    /// it the seed [`Shard::seed`]. If a run fails or panics, the other shards continue; [`ShardFits::failures`] names
    /// the shard and the reason.
    ///
    /// # Examples
    ///
    /// Each shard tunes itself, and is resumed from its checkpoints if the program is run again:
    ///
    /// ```
    /// use sgmcmc::distributed::shards::Shards;
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    /// use sgmcmc::run::CheckpointInterval;
    /// use sgmcmc::storage::FileCheckpoints;
    ///
    /// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
    /// let data = Dataset::new(array((0..1000).map(|i| f64::from(i % 10)).collect(), [1000])?)?;
    /// let folder = std::env::temp_dir().join("sgmcmc-doc-shards");
    /// let shards = Shards::random(data.observations(), 4, 7)?;
    /// let fits = shards.run(|shard| {
    ///     let checkpoints = FileCheckpoints::new(shard.directory(&folder))?;
    ///     auto(&shard.model(&model), &data)
    ///         .seed(shard.seed(1))
    ///         .checkpoint(checkpoints, CheckpointInterval::Steps(1000))
    ///         .sample(&zeros([1]))
    /// });
    /// assert!(fits.failures().is_empty());
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn run(&self, sample: impl Fn(&Shard) -> sgmcmc_gradient::Result<Fit> + Sync) -> ShardFits {
        let shards: Vec<Shard> = self.iter().collect();
        let fits = shards.par_iter().map(|shard| run_one(shard, &sample)).collect();
        ShardFits { infos: shards.iter().map(Shard::info).collect(), fits }
    }
}

impl Shard {
    /// Calls `sample` for this shard. The fit records its shard.
    ///
    /// # Errors
    ///
    /// Returns the error of `sample`, or an error if it panics.
    pub fn run(&self, sample: impl Fn(&Shard) -> sgmcmc_gradient::Result<Fit>) -> sgmcmc_gradient::Result<Fit> {
        run_one(self, &sample)
    }
}

/// Calls `sample` for a shard and marks the fit.
fn run_one(shard: &Shard, sample: &impl Fn(&Shard) -> sgmcmc_gradient::Result<Fit>) -> sgmcmc_gradient::Result<Fit> {
    // The closure is not called again after a panic for this shard.
    let result = catch_unwind(AssertUnwindSafe(|| sample(shard))).unwrap_or_else(|panic| {
        let what = format!("the closure that samples shard {}", shard.index());
        Err(sgmcmc_gradient::Error::Panicked { what, message: message(panic.as_ref()) })
    });
    match &result {
        Err(error) => log::warn!("shard {} failed: {error}", shard.index()),
        Ok(fit) => {
            for (chain, outcome) in fit.outcomes().iter().enumerate() {
                if let ChainOutcome::Failed(error) = outcome {
                    log::warn!("shard {}, chain {chain} failed: {error}", shard.index());
                }
            }
        }
    }
    result.map(|fit| mark(fit, shard.info()))
}

/// Returns the fit with the description of its shard.
fn mark(fit: Fit, shard: ShardInfo) -> Fit {
    let info = RunInfo { shard: Some(shard), ..fit.info().clone() };
    fit.with_info(info)
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// The results of the runs on all shards.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::{combine::Consensus, shards::Shards};
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array((0..100).map(|i| f64::from(i % 10)).collect(), [100])?)?;
/// let fits = Shards::random(100, 4, 7)?
///     .run(|shard| hmc(&shard.model(&model), &data, 0.001).seed(shard.seed(1)).sample(&zeros([1]), 500));
/// let fit = fits.combine(&Consensus::default(), 0)?;
/// assert!((fit.mean_values()[0] - 4.5).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShardFits {
    infos: Vec<ShardInfo>,
    fits: Vec<sgmcmc_gradient::Result<Fit>>,
}

impl ShardFits {
    /// Returns the result of every shard.
    pub fn results(&self) -> &[sgmcmc_gradient::Result<Fit>] {
        &self.fits
    }

    /// Returns the fit of the shard with this index, or `None` if its run failed or there is no such shard.
    pub fn fit(&self, shard: usize) -> Option<&Fit> {
        self.fits.get(shard)?.as_ref().ok()
    }

    /// Returns the shards whose run failed, and the chains that failed in the others, with the reasons.
    pub fn failures(&self) -> Vec<ShardFailure> {
        let mut failures = Vec::new();
        for (shard, result) in self.fits.iter().enumerate() {
            match result {
                Err(source) => failures.push(ShardFailure { shard, chain: None, source: source.clone() }),
                Ok(fit) => {
                    failures.extend(fit.outcomes().iter().enumerate().filter_map(|(chain, outcome)| match outcome {
                        ChainOutcome::Failed(source) => {
                            Some(ShardFailure { shard, chain: Some(chain), source: source.clone() })
                        }
                        ChainOutcome::Complete | ChainOutcome::Stopped => None,
                    }));
                }
            }
        }
        failures
    }

    /// Replaces the fit of a shard, for instance of one that failed, with one from [`Shard::run`] or a file. It is
    /// ignored if there is no such shard.
    pub fn replace(&mut self, shard: usize, fit: Fit) {
        if let (Some(slot), Some(info)) = (self.fits.get_mut(shard), self.infos.get(shard)) {
            *slot = Ok(mark(fit, *info));
        }
    }

    /// Returns the fits of all shards.
    ///
    /// # Errors
    ///
    /// Returns an error that names every shard without a usable chain.
    pub fn into_fits(self) -> Result<Vec<Fit>> {
        self.check()?;
        Ok(self.fits.into_iter().filter_map(sgmcmc_gradient::Result::ok).collect())
    }

    /// Combines the fits of all shards into a fit of the posterior, see [`combine_fits`].
    ///
    /// A shard whose chains failed in part is combined from the others. The posterior needs every shard: without one,
    /// it would be a posterior of less data.
    ///
    /// # Errors
    ///
    /// Returns an error that names every shard without a usable chain, and the errors of [`combine_fits`].
    pub fn combine(&self, method: &dyn Combination, seed: u64) -> Result<Fit> {
        self.check()?;
        let fits: Vec<Fit> = self.fits.iter().filter_map(|fit| fit.as_ref().ok()).cloned().collect();
        Ok(combine_fits(&fits, method, CombineOptions { seed, tempering: None })?)
    }

    /// Returns an error if a shard has no usable chain.
    fn check(&self) -> Result<()> {
        let unusable = |failure: &ShardFailure| match self.fit(failure.shard) {
            None => true,
            Some(fit) => fit.outcomes().iter().all(|outcome| matches!(outcome, ChainOutcome::Failed(_))),
        };
        let failures: Vec<ShardFailure> = self.failures().into_iter().filter(unusable).collect();
        if failures.is_empty() { Ok(()) } else { Err(Error::Failed(failures)) }
    }
}
