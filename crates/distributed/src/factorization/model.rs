//! The model and the settings of a blocked factorization.

use std::sync::Arc;

use sgmcmc_gradient::settings;
use sgmcmc_samplers::schedule::SharedSchedule;

use super::algorithm::BlockAlgorithm;
use super::entries::BlockedEntries;
use super::likelihood::{EntryLikelihood, GaussianEntries};
use super::prior::FactorPrior;
use super::sampler::BlockSampler;
use crate::collective::{Error, Result, agree, check_same};

/// A factorization xᵢⱼ ~ p(· | Wᵢ·Hⱼ) of a matrix in blocks.
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`likelihood`](Self::likelihood) | N(Wᵢ·Hⱼ, 1) | distribution of an entry |
/// | [`row_prior`](Self::row_prior), [`column_prior`](Self::column_prior) | N(0, 1) | priors of W and H |
/// | [`algorithm`](Self::algorithm) | SGLD | DSGLD, PSGLD or HAMCMC |
/// | [`step_size`](Self::step_size) | 1e-4 | the step size h |
/// | [`start_scale`](Self::start_scale) | 0.1 | standard deviation of the normal start |
/// | [`seed`](Self::seed), [`chain`](Self::chain) | 0, 0 | random numbers |
/// | [`fix_columns`](Self::fix_columns) | none | a given H, of which W is sampled |
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc::distributed::collective::on_threads;
/// use sgmcmc::distributed::factorization::{BlockRun, BlockedEntries, BlockedFactorization, Grid};
/// use sgmcmc::models::factorization::Entries;
///
/// let ratings = Entries::simulate_ratings(20, 30, 300, 2, 1)?;
/// let grid = Arc::new(Grid::new(20, 30, 2, 1)?);
/// let fits = on_threads(2, |ranks| {
///     // Each rank has the entries that it read: here every second one.
///     let own = ratings.iter().skip(ranks.rank()).step_by(2);
///     let entries = BlockedEntries::distribute(ranks, grid.clone(), own)?;
///     let model = BlockedFactorization::new(2).step_size(1e-3);
///     model.sampler(entries)?.sample(&BlockRun { draws: 10, burn_in: 10, thin: 2 }, None)
/// })?;
/// assert_eq!(fits[0].as_ref().map(|fit| fit.chains()[0].len()), Some(10));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockedFactorization<L = GaussianEntries> {
    pub(super) factors: usize,
    pub(super) likelihood: L,
    pub(super) row_prior: FactorPrior,
    pub(super) column_prior: FactorPrior,
    pub(super) algorithm: BlockAlgorithm,
    pub(super) step_size: SharedSchedule,
    pub(super) start_scale: f64,
    pub(super) seed: u64,
    pub(super) chain: u64,
    pub(super) fixed_columns: Option<Arc<Vec<f64>>>,
}

impl BlockedFactorization {
    /// Creates a factorization with `factors` factors, normal priors and normal entries of variance 1.
    pub fn new(factors: usize) -> Self {
        Self {
            factors,
            likelihood: GaussianEntries { variance: 1.0 },
            row_prior: FactorPrior::default(),
            column_prior: FactorPrior::default(),
            algorithm: BlockAlgorithm::Sgld,
            step_size: 1e-4.into(),
            start_scale: 0.1,
            seed: 0,
            chain: 0,
            fixed_columns: None,
        }
    }
}

impl<L: EntryLikelihood> BlockedFactorization<L> {
    /// Sets the distribution of an entry.
    #[must_use]
    pub fn likelihood<M: EntryLikelihood>(self, likelihood: M) -> BlockedFactorization<M> {
        let Self { factors, row_prior, column_prior, algorithm, step_size, start_scale, seed, chain, .. } = self;
        let fixed_columns = self.fixed_columns;
        BlockedFactorization {
            factors,
            likelihood,
            row_prior,
            column_prior,
            algorithm,
            step_size,
            start_scale,
            seed,
            chain,
            fixed_columns,
        }
    }

    /// Sets the prior of the elements of W.
    #[must_use]
    pub fn row_prior(self, prior: FactorPrior) -> Self {
        Self { row_prior: prior, ..self }
    }

    /// Sets the prior of the elements of H.
    #[must_use]
    pub fn column_prior(self, prior: FactorPrior) -> Self {
        Self { column_prior: prior, ..self }
    }

    /// Sets the algorithm.
    #[must_use]
    pub fn algorithm(self, algorithm: BlockAlgorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// Sets the step size: a number or a schedule.
    #[must_use]
    pub fn step_size(self, step_size: impl Into<SharedSchedule>) -> Self {
        Self { step_size: step_size.into(), ..self }
    }

    /// Sets the standard deviation of the elements at the start, which are normal with mean zero.
    #[must_use]
    pub fn start_scale(self, scale: f64) -> Self {
        Self { start_scale: scale, ..self }
    }

    /// Sets the seed of all random numbers.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of the chain. Chains with different numbers are independent.
    #[must_use]
    pub fn chain(self, chain: u64) -> Self {
        Self { chain, ..self }
    }

    /// Fixes H at `columns`, one row of factors per column of the matrix, so that only W is sampled: for new rows of
    /// a matrix that was factorized before.
    #[must_use]
    pub fn fix_columns(self, columns: Vec<f64>) -> Self {
        Self { fixed_columns: Some(Arc::new(columns)), ..self }
    }

    /// Creates a sampler at a random start. All ranks must call it.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, or if the settings of the ranks differ.
    pub fn sampler(&self, entries: BlockedEntries) -> Result<BlockSampler<L>>
    where
        L: Clone,
    {
        let ranks = entries.ranks.clone();
        agree(&*ranks, self.check(&entries))?;
        check_same(&*ranks, "the settings of the factorization", &self.describe())?;
        BlockSampler::new(self.clone(), entries)
    }

    fn check(&self, entries: &BlockedEntries) -> Result<()> {
        settings::at_least("the number of factors", self.factors, 1, "it must be at least 1")?;
        settings::non_negative("the scale of the start", self.start_scale)?;
        self.row_prior.check()?;
        self.column_prior.check()?;
        self.algorithm.check()?;
        self.likelihood.check()?;
        let expected = self.factors * entries.grid.column_count();
        match self.fixed_columns.as_ref().map(|columns| columns.len()) {
            Some(found) if found != expected => {
                Err(Error::Model(sgmcmc_gradient::Error::Length { what: "the fixed factor H", expected, found }))
            }
            _ => Ok(()),
        }
    }

    /// Describes everything that the draws depend on, apart from the entries.
    pub(super) fn describe(&self) -> String {
        let Self { factors, row_prior, column_prior, algorithm, step_size, start_scale, seed, chain, .. } = self;
        let fixed = self.fixed_columns.as_ref().map(|columns| {
            let mut hasher = sgmcmc_gradient::fingerprint::Fingerprinter::new();
            hasher.numbers(columns);
            hasher.finish()
        });
        let likelihood = self.likelihood.describe();
        format!(
            "{algorithm:?} with step size {step_size:?} of {factors} factors, {likelihood}, {row_prior:?}, {column_prior:?}, \
             start {start_scale}, seed {seed}, chain {chain}, fixed {fixed:?}"
        )
    }
}
