//! The checkpoints that a run makes: see [`RunCheckpoints`].

use super::EpochCheckpoints;

/// The checkpoints of a run on ranks with states of their own, and the interval between two of them.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc::distributed::checkpoint::{EpochCheckpoints, RunCheckpoints};
/// use sgmcmc::distributed::collective::ThreadRank;
/// use sgmcmc::distributed::factorization::{BlockRun, BlockedEntries, BlockedFactorization, Grid};
/// use sgmcmc::models::factorization::Entries;
/// use sgmcmc::run::InMemoryCheckpoints;
///
/// let ratings = Entries::simulate_ratings(20, 30, 300, 2, 1)?;
/// let (grid, ranks) = (Arc::new(Grid::new(20, 30, 2, 1)?), Arc::new(ThreadRank::alone()));
/// let memory = InMemoryCheckpoints::default();
/// let sample = |draws: usize| {
///     let entries = BlockedEntries::distribute(ranks.clone(), grid.clone(), ratings.iter())?;
///     let mut sampler = BlockedFactorization::new(2).step_size(1e-3).sampler(entries)?;
///     let mut store = EpochCheckpoints::new(memory.clone(), ranks.clone(), &sampler.identity()?);
///     let checkpoints = RunCheckpoints { store: &mut store, every: 5 };
///     sampler.sample(&BlockRun { draws, burn_in: 0, thin: 1 }, Some(checkpoints))
/// };
/// let (short, long) = (sample(10)?, sample(20)?);
/// let values = |fit: Option<sgmcmc::Fit>| fit.map(|fit| fit.chains()[0].values().to_vec()).unwrap_or_default();
/// let (short, long) = (values(short), values(long));
/// assert_eq!(short, long[..short.len()]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct RunCheckpoints<'a> {
    /// The store.
    pub store: &'a mut EpochCheckpoints,
    /// The number of iterations between two checkpoints; for DSGLD, of rounds of visits.
    pub every: u64,
}
