//! Combination of fits.

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit, RunInfo, ShardInfo, Tempering};
use sgmcmc_gradient::{Constraint, Layout};

use super::{Combination, DrawOrder, Draws, Error, Result, check_tempering};

/// The settings of [`combine_fits`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::CombineOptions;
///
/// assert_eq!(CombineOptions { seed: 7, ..CombineOptions::default() }.tempering, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CombineOptions {
    /// The seed of the methods that draw random numbers.
    pub seed: u64,
    /// The powers of prior and likelihood, for fits that do not record them. `None` is the first of
    /// [`Combination::temperings`].
    pub tempering: Option<Tempering>,
}

/// Combines the fits of all shards of a data set into a fit of the posterior.
///
/// The fits may come from [`Shards::run`](crate::shards::Shards::run), from files, or from other programs. Fits that
/// know their shard ([`RunInfo::shard`]) are checked: all shards must be there, with the same powers of prior and
/// likelihood. Fits of other programs are taken as one shard each.
///
/// Parameters are combined in unconstrained coordinates, where the density of a subposterior has the Jacobian of its
/// constraints to the power 1/S, as in [`Subposterior`](crate::shards::Subposterior). Softmax parameters are combined in
/// the coordinates of the simplex. Draws with weights are resampled. Chains that failed are left out.
///
/// Methods that pair draws combine chain k of all shards to chain k. Methods that keep the draws of each shard keep its
/// chains. The others make one chain. The draws have no log posterior (NaN), and a fit of one shard is returned as it
/// is.
///
/// # Errors
///
/// Returns an error if the fits are not those of all shards of one data set and one model, two shards have the same
/// seed, a draw has no coordinates, and the errors of [`Combination::combine`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{CombineOptions, Consensus, combine_fits};
/// use sgmcmc::distributed::shards::Shards;
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array((0..100).map(|i| f64::from(i % 10)).collect(), [100])?)?;
/// let fits = Shards::random(100, 4, 7)?
///     .run(|shard| hmc(&shard.model(&model), &data, 0.001).seed(shard.seed(1)).sample(&zeros([1]), 500))
///     .into_fits()?;
/// let fit = combine_fits(&fits, &Consensus::default(), CombineOptions::default())?;
/// assert!((fit.mean_values()[0] - 4.5).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn combine_fits(fits: &[Fit], method: &dyn Combination, options: CombineOptions) -> Result<Fit> {
    let (fits, shard) = check_set(fits)?;
    let Some(first) = fits.first() else { return Err(Error::NoShards) };
    let layout = first.layout().clone();
    for (shard, fit) in fits.iter().enumerate() {
        check_layout(&layout, fit.layout()).map_err(|source| Error::Parameters { shard, source })?;
    }
    let tempering = tempering(shard, options.tempering, method)?;
    if let [fit] = fits[..] {
        return Ok(fit.clone().with_info(RunInfo { shard: None, ..fit.info().clone() }));
    }
    check_tempering(method.name(), method.temperings(), tempering)?;
    check_seeds(&fits)?;
    let coordinates = combination_layout(&layout)?;
    let mut shards = Vec::with_capacity(fits.len());
    for (shard, fit) in fits.iter().enumerate() {
        shards.push(chains(fit, &coordinates, options.seed).map_err(|error| error.of_shard(shard))?);
    }
    let (draws, lengths) = arrange(method.order(), &shards);
    let combined = method.combine_tempered(&draws, tempering, options.seed)?;
    let lengths = if lengths.iter().sum::<usize>() == combined.len() { lengths } else { vec![combined.len()] };
    let observations = match shard {
        Some(shard) => shard.observations,
        None => fits.iter().map(|fit| fit.info().observations).sum(),
    };
    let info = RunInfo {
        algorithm: format!("{method:?} of {} shards", fits.len()),
        observations,
        seed: options.seed,
        version: env!("CARGO_PKG_VERSION").into(),
        ..RunInfo::default()
    };
    Ok(assemble(layout, &coordinates, &combined, &lengths)?.with_info(info))
}

/// Checks that fits that record their shard are all shards of one set. Returns them in the order of the shards.
fn check_set(fits: &[Fit]) -> Result<(Vec<&Fit>, Option<ShardInfo>)> {
    let incomplete = |reason: String| Err(Error::Incomplete { reason });
    let infos: Vec<Option<ShardInfo>> = fits.iter().map(|fit| fit.info().shard).collect();
    let Some(first) = infos.iter().flatten().next().copied() else { return Ok((fits.iter().collect(), None)) };
    let mut order = vec![None; fits.len()];
    for (position, info) in infos.iter().enumerate() {
        let Some(info) = info else {
            return incomplete(format!("fit {position} is of all data, or does not record its shard; leave it out"));
        };
        if (info.count, info.observations, info.tempering) != (first.count, first.observations, first.tempering) {
            return incomplete(format!("fit {position} is of another set ({info}) than the first fit ({first})"));
        }
        if info.count != fits.len() {
            let (count, given) = (info.count, fits.len());
            let missing: Vec<String> = (0..count)
                .filter(|index| !infos.iter().flatten().any(|info| info.index == *index))
                .map(|index| index.to_string())
                .collect();
            let missing = if missing.is_empty() { "none".into() } else { missing.join(", ") };
            return incomplete(format!(
                "there are {count} shards, but {given} fits; missing: {missing}; give the fit of every shard once"
            ));
        }
        match order.get_mut(info.index) {
            Some(slot @ None) => *slot = Some(position),
            _ => return incomplete(format!("shard {} is given twice; give the fit of every shard once", info.index)),
        }
    }
    Ok((order.into_iter().flatten().map(|position| &fits[position]).collect(), Some(first)))
}

/// Returns the powers of prior and likelihood of the subposteriors.
fn tempering(shard: Option<ShardInfo>, given: Option<Tempering>, method: &dyn Combination) -> Result<Tempering> {
    match (shard.map(|shard| shard.tempering), given) {
        (Some(known), Some(given)) if known != given => Err(Error::Incomplete {
            reason: format!("the fits are of subposteriors with {known}, but {given} was given; leave it out"),
        }),
        (Some(known), _) => Ok(known),
        (None, Some(given)) => Ok(given),
        (None, None) => Ok(method.temperings().first().copied().unwrap_or_default()),
    }
}

/// Checks that no two shards have the same random numbers.
fn check_seeds(fits: &[&Fit]) -> Result<()> {
    // Files of other programs do not have a seed.
    let known = |fit: &&Fit| !fit.info().iterations.is_empty();
    for (other, fit) in fits.iter().enumerate().filter(|(_, fit)| known(fit)) {
        let seed = fit.info().seed;
        if let Some(one) = fits[..other].iter().position(|fit| known(fit) && fit.info().seed == seed) {
            return Err(Error::RepeatedSeed { one, other, seed });
        }
    }
    Ok(())
}

/// Checks that two layouts have the same parameters, shapes and constraints.
fn check_layout(layout: &Layout, found: &Layout) -> sgmcmc_gradient::Result<()> {
    layout.check_same(found)?;
    match layout.blocks().iter().zip(found.blocks()).find(|(a, b)| a.constraint != b.constraint) {
        None => Ok(()),
        Some((a, b)) => {
            let name = |constraint: Option<Constraint>| constraint.map_or("no constraint".into(), |c| format!("{c:?}"));
            let (one, other, name_of) = (name(a.constraint), name(b.constraint), &a.name);
            let reason = format!("parameter `{name_of}` has {one} in one shard and {other} in another; use one model");
            Err(sgmcmc_gradient::Error::Draws { reason })
        }
    }
}

/// Returns the layout of the coordinates in which densities are multiplied.
///
/// Softmax has one coordinate too many. In the coordinates of the simplex, the Jacobians of the subposteriors, each to
/// the power 1/S, multiply to the Jacobian of the posterior as well, because both are Π x.
fn combination_layout(layout: &Layout) -> Result<Layout> {
    let blocks = layout.blocks().iter().map(|block| match block.constraint {
        Some(Constraint::UnitVector) => Err(Error::NoCoordinates { parameter: block.name.clone() }),
        Some(Constraint::Softmax) => Ok((block.name.clone(), block.shape.clone(), Some(Constraint::Simplex))),
        constraint => Ok((block.name.clone(), block.shape.clone(), constraint)),
    });
    Ok(Layout::new(blocks.collect::<Result<Vec<_>>>()?)?)
}

/// Returns the coordinates of the draws of every chain that did not fail.
fn chains(fit: &Fit, layout: &Layout, seed: u64) -> Result<Vec<Draws>> {
    let mut chains = Vec::new();
    let mut reason = "it has no draws".to_owned();
    for (chain, (draws, outcome)) in fit.chains().iter().zip(fit.outcomes()).enumerate() {
        match outcome {
            ChainOutcome::Failed(error) => reason = error.to_string(),
            ChainOutcome::Complete | ChainOutcome::Stopped if draws.is_empty() => {}
            ChainOutcome::Complete | ChainOutcome::Stopped => {
                let mut values = Vec::with_capacity(draws.len() * layout.dim());
                for (draw, row) in draws.rows().enumerate() {
                    values.extend(layout.coordinates(row).map_err(|source| Error::Coordinates {
                        chain,
                        draw,
                        source,
                    })?);
                }
                chains.push(Draws::weighted(values, draws.weights(), layout.dim(), seed)?);
            }
        }
    }
    if chains.is_empty() { Err(Error::NoChain { reason }) } else { Ok(chains) }
}

/// Concatenates the chains of every shard. Returns the lengths of the combined chains.
fn arrange(order: DrawOrder, shards: &[Vec<Draws>]) -> (Vec<Draws>, Vec<usize>) {
    let chains = shards[0].len();
    let concatenate = |chains: &[Draws]| {
        let values = chains.iter().flat_map(|draws| draws.values().iter().copied()).collect();
        Draws::from_parts(values, chains[0].dim())
    };
    let all = || shards.iter().map(|chains| concatenate(chains)).collect();
    match order {
        DrawOrder::Paired if shards.iter().all(|shard| shard.len() == chains) => {
            let length = |chain: usize| shards.iter().map(|shard| shard[chain].len()).min().unwrap_or(0);
            let lengths: Vec<usize> = (0..chains).map(length).collect();
            let thinned = |shard: &Vec<Draws>| {
                let chains: Vec<Draws> = shard.iter().zip(&lengths).map(|(draws, n)| draws.thinned_to(*n)).collect();
                concatenate(&chains)
            };
            (shards.iter().map(thinned).collect(), lengths)
        }
        DrawOrder::ByShard => (all(), shards.iter().flatten().map(Draws::len).collect()),
        DrawOrder::Paired | DrawOrder::New => (all(), Vec::new()),
    }
}

/// Returns a fit of the values of combined coordinates.
fn assemble(layout: Layout, coordinates: &Layout, combined: &Draws, lengths: &[usize]) -> Result<Fit> {
    let mut rows = combined.rows();
    let mut values = vec![0.0; layout.value_count()];
    let mut chains = Vec::with_capacity(lengths.len());
    for length in lengths {
        let mut chain = ChainDraws::with_capacity(*length, values.len(), Vec::new());
        for (iteration, row) in (1..).zip(rows.by_ref().take(*length)) {
            coordinates.values_into(row, &mut values)?;
            let draw = Draw { iteration, values: &values, weight: 1.0, log_posterior: f64::NAN, stats: &[] };
            chain.push(&draw)?;
        }
        chains.push(chain);
    }
    Ok(Fit::new(layout, chains)?)
}
