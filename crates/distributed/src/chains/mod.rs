//! Chains on several ranks, gathered into one fit.

#[cfg(test)]
mod tests;

use std::ops::Range;

use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_fit::{Bias, Communication, Fit, RunInfo};

use crate::collective::{Collective, Error, Result, agree};
use crate::combine::{Combination, CombineOptions, combine_fits};

/// Returns the part of rank `rank` of `size` when `count` things are divided into equal parts in order.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::chains::part;
///
/// assert_eq!([part(10, 0, 3), part(10, 1, 3), part(10, 2, 3)], [0..3, 3..6, 6..10]);
/// ```
pub fn part(count: usize, rank: usize, size: usize) -> Range<usize> {
    let bound = |rank: usize| (rank as u128 * count as u128 / size.max(1) as u128) as usize;
    bound(rank)..bound(rank + 1)
}

/// Returns the indices of the chains that a rank runs, of `chains` in all, for
/// [`Builder::chain_range`](sgmcmc_samplers::Builder::chain_range).
///
/// # Errors
///
/// Returns an error if there are fewer chains than ranks.
///
/// # Examples
///
/// Four chains on two ranks. The draws are those of four chains in one process, and R-hat compares all of them:
///
/// ```
/// use sgmcmc::distributed::chains::{chains_of_rank, gather_fit};
/// use sgmcmc::distributed::collective::{Error, on_threads};
/// use sgmcmc::prelude::*;
///
/// let fits = on_threads(2, |ranks| {
///     let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
///     let run = ula(&model, &Dataset::none(), 0.1).chains(4).chain_range(chains_of_rank(4, &*ranks)?);
///     gather_fit(&*ranks, run.sample(&zeros([1]), 100)?)
/// })?;
/// let fit = fits[0].as_ref().ok_or(Error::Launch { reason: "rank 0 has the fit".into() })?;
/// assert_eq!(fit.chains().len(), 4);
/// assert_eq!(fit.info().communication.map(|cost| cost.ranks), Some(2));
/// assert!(fits[1].is_none());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn chains_of_rank(chains: usize, ranks: &dyn Collective) -> Result<Range<usize>> {
    if chains < ranks.size() {
        let expected = "run at least one chain per rank";
        return Err(Error::Setting { name: "the number of chains", value: chains.to_string(), expected });
    }
    Ok(part(chains, ranks.rank(), ranks.size()))
}

/// Gathers the chains of all ranks into one fit on rank 0. Returns `None` on the other ranks.
///
/// The chains are ordered by rank. Settings are those of rank 0; the cost is that of all chains, with the cost of the communication.
///
/// # Errors
///
/// Returns an error if the fits of the ranks have different parameters, and the errors of
/// [`Collective::gather`].
pub fn gather_fit(ranks: &dyn Collective, fit: Fit) -> Result<Option<Fit>> {
    let Some(fits) = gather_fits(ranks, fit)? else { return Ok(None) };
    let mut fits = fits.into_iter();
    let Some(first) = fits.next() else { return Ok(None) };
    fits.try_fold(first, joined).map(Some)
}

/// Gathers the fits of all ranks on rank 0. Returns `None` on the other ranks.
///
/// # Errors
///
/// Returns the errors of [`Collective::gather`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::chains::gather_fits;
/// use sgmcmc::distributed::collective::on_threads;
/// use sgmcmc::prelude::*;
///
/// let fits = on_threads(3, |ranks| {
///     let mean = ranks.rank() as f64;
///     let model = Model::density(move |x: Tensor<1>| (x - mean).square() * -0.5);
///     gather_fits(&*ranks, hmc(&model, &Dataset::none(), 0.5).sample(&zeros([1]), 100)?)
/// })?;
/// assert_eq!(fits[0].as_ref().map(Vec::len), Some(3));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn gather_fits(ranks: &dyn Collective, mut fit: Fit) -> Result<Option<Vec<Fit>>> {
    let info = RunInfo { communication: Some(ranks.communication()), ..fit.info().clone() };
    fit = fit.with_info(info);
    let Some(parts) = ranks.gather(0, &encode(&fit)?)? else { return Ok(None) };
    let fits = parts.iter().map(|part| decode::<Fit>(part)).collect::<sgmcmc_gradient::Result<Vec<_>>>()?;
    Ok(Some(fits))
}

/// Gathers the fits of the shards of all ranks, and combines them into a fit of the posterior on rank 0. Returns `None` on
/// the other ranks.
///
/// The fits are those of [`Shard::of_rank`](crate::shards::Shard::of_rank). The result does not depend on timing.
///
/// # Errors
///
/// Returns the errors of [`Collective::gather`], and the error of [`combine_fits`] on all ranks.
///
/// # Examples
///
/// See [`Shard::of_rank`](crate::shards::Shard::of_rank).
pub fn gather_combined(
    ranks: &dyn Collective,
    fit: Fit,
    method: &dyn Combination,
    options: CombineOptions,
) -> Result<Option<Fit>> {
    let fits = gather_fits(ranks, fit)?;
    let combined = fits.map(|fits| -> Result<Fit> {
        let fit = combine_fits(&fits, method, options)?;
        let cost = Communication::from_ranks(fits.iter().filter_map(|fit| fit.info().communication));
        let info = RunInfo { communication: Some(cost), ..fit.info().clone() };
        Ok(fit.with_info(info))
    });
    agree(ranks, combined.transpose())
}

/// Appends the chains of `more` to `all`.
fn joined(all: Fit, more: Fit) -> Result<Fit> {
    if all.layout() != more.layout() {
        let what = "the parameters of the chains".into();
        return Err(Error::Disagreement { what, remedy: "run the same model on all ranks" });
    }
    let (a, b) = (all.info().clone(), more.info());
    let info = RunInfo {
        iterations: [&a.iterations[..], &b.iterations].concat(),
        gradients: [&a.gradients[..], &b.gradients].concat(),
        undefined: [&a.undefined[..], &b.undefined].concat(),
        seconds: [&a.seconds[..], &b.seconds].concat(),
        bias: Bias::worst([a.bias.clone(), b.bias.clone()]),
        communication: Some(Communication::from_ranks(a.communication.into_iter().chain(b.communication))),
        ..a
    };
    let chains = [all.chains(), more.chains()].concat();
    let outcomes = [all.outcomes(), more.outcomes()].concat();
    let mode = all.mode().cloned();
    Ok(Fit::new(all.layout().clone(), chains)?.with_outcomes(outcomes)?.with_mode(mode).with_info(info))
}

/// Calls `run` on a thread pool with one thread, where the chains of a run are moved one after another.
///
/// All ranks of a [data-parallel](crate::data_parallel) run must move their chains in the same order.
///
/// # Errors
///
/// Returns an error if the thread cannot be created.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::chains::in_order;
///
/// assert_eq!(in_order(|| 1 + 1)?, 2);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn in_order<R: Send>(run: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Error::Launch { reason: format!("no thread for the chains: {error}") })?;
    Ok(pool.install(run))
}
