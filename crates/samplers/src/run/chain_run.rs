//! Runs of any chains: see [`ChainRun`].

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use sgmcmc_gradient::{ChainRng, Error, Fingerprint, Layout, ModelIdentity, Result};

use super::chain_group::{self, ChainGroup, PendingChain};
use super::checkpoint::{CheckpointInterval, CheckpointStore, Checkpoints, RunFingerprint, Schedules};
use super::driver::ChainResult;
use super::guard::guard;
use super::launch::fingerprint_of_start;
use super::plan::Plan;
use super::progress::ProgressOption;
use super::stop::StopSignal;
use crate::chain::Chain;
use sgmcmc_fit::sink::{Memory, Sink};
use sgmcmc_fit::{ChainOutcome, Fit, RunInfo};

/// A run of chains of any kind: in parallel, with sinks, checkpoints, progress reports and a signal that ends it.
///
/// [`Builder`](crate::Builder) runs gradient algorithms. This type runs every other [`Chain`], such as a Gibbs sampler
/// of a ready model. Both share their settings, files and guarantees: the same seed gives the same draws for every
/// number of threads, and a run that is resumed gives the draws of a run without interruption.
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`seed`](Self::seed) | 0 | seed of the random number generators |
/// | [`chains`](Self::chains) | 1 | number of chains, run in parallel |
/// | [`burn_in`](Self::burn_in) | 0 | number of iterations before the first draw |
/// | [`thin`](Self::thin) | 1 | number of iterations per draw |
/// | [`memory_limit`](Self::memory_limit) | 4 GiB | largest size of the stored draws, in bytes |
/// | [`non_finite_limit`](Self::non_finite_limit) | 100 | number of consecutive iterations without a finite log posterior that end a chain |
/// | [`progress`](Self::progress) | off | progress reports |
/// | [`stop_on`](Self::stop_on) | none | signal that ends chains early |
/// | [`checkpoint`](Self::checkpoint) | none | store and interval of checkpoints |
///
/// # Examples
///
/// See [`Chain`] for a chain to run. With the chain `make(index, rng)`:
///
/// ```
/// # use sgmcmc::Layout;
/// # use sgmcmc::algorithms::{Chain, StepInfo};
/// # use sgmcmc::gradient::Result;
/// # use sgmcmc::rng::ChainRng;
/// use rand::RngExt;
/// use sgmcmc::run::ChainRun;
/// use sgmcmc::sink::{Moments, SecondMoments};
///
/// # #[derive(Debug)]
/// # struct Uniform(Layout, ChainRng, Vec<f64>, u64);
/// # impl Chain for Uniform {
/// #     fn step(&mut self) -> Result<()> {
/// #         self.2[0] = self.1.noise().random();
/// #         self.3 += 1;
/// #         Ok(())
/// #     }
/// #     fn position(&self) -> &[f64] {
/// #         &self.2
/// #     }
/// #     fn info(&self) -> StepInfo {
/// #         StepInfo::new(self.3)
/// #     }
/// #     fn layout(&self) -> &Layout {
/// #         &self.0
/// #     }
/// #     fn save(&self) -> Result<Vec<u8>> {
/// #         Ok(Vec::new())
/// #     }
/// #     fn restore(&mut self, _: &[u8]) -> Result<()> {
/// #         Ok(())
/// #     }
/// # }
/// # let make = |_: usize, rng: ChainRng| {
/// #     Ok(Box::new(Uniform(Layout::vector("x", 1), rng, vec![0.0], 0)) as Box<dyn Chain>)
/// # };
/// let run = ChainRun::new("uniform draws", make).seed(1).chains(4).burn_in(10);
/// let fit = run.sample(100)?;
/// assert_eq!((fit.chains().len(), fit.chains()[0].len()), (4, 100));
/// let moments = run.sample_into(100, |_chain| Moments::new(SecondMoments::Variances))?;
/// assert_eq!(moments.len(), 4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone)]
pub struct ChainRun {
    identity: String,
    make: Arc<dyn MakeChain>,
    plan: Plan,
}

/// Creates the chain of an index from its random number generators.
trait MakeChain: Fn(usize, ChainRng) -> Result<Box<dyn Chain>> + Send + Sync {}

impl<F: Fn(usize, ChainRng) -> Result<Box<dyn Chain>> + Send + Sync> MakeChain for F {}

impl fmt::Debug for ChainRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, plan, .. } = self;
        f.debug_struct("ChainRun").field("identity", identity).field("plan", plan).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

/// Chains that have been created, and the properties that they share.
struct Created {
    chains: Vec<Result<Box<dyn Chain>>>,
    layout: Layout,
    stats: Vec<String>,
    interleaved: usize,
    observations: usize,
}

impl ChainRun {
    /// Creates a run of the chains that `make` returns. Its arguments are the index of the chain and its random number
    /// generators, the only source of randomness that chains may use.
    ///
    /// All chains must have the same layout and statistics. `identity` describes everything that the draws depend on:
    /// the model, its settings, and a fingerprint of the data. It is the description of the algorithm in the fit, and
    /// a checkpoint is resumed only by a run with the same one.
    pub fn new(
        identity: impl Into<String>,
        make: impl Fn(usize, ChainRng) -> Result<Box<dyn Chain>> + Send + Sync + 'static,
    ) -> Self {
        Self { identity: identity.into(), make: Arc::new(make), plan: Plan::default() }
    }

    /// Sets the seed of all random number generators. The same seed gives the same draws for every number of threads.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// Sets the number of chains, which run in parallel.
    #[must_use]
    pub fn chains(mut self, chains: usize) -> Self {
        self.plan.chains = chains;
        self
    }

    /// Runs only the chains with these indices, of all [`chains`](Self::chains). Other processes run the rest, see
    /// [`Builder::chain_range`](crate::Builder::chain_range).
    #[must_use]
    pub fn chain_range(mut self, range: Range<usize>) -> Self {
        self.plan.chain_range = Some(range);
        self
    }

    /// Sets the number of iterations before the first draw.
    #[must_use]
    pub fn burn_in(mut self, iterations: u64) -> Self {
        self.plan.burn_in = iterations;
        self
    }

    /// Sets the number of iterations per draw.
    #[must_use]
    pub fn thin(mut self, iterations: u64) -> Self {
        self.plan.thin = iterations;
        self
    }

    /// Sets the largest size in bytes of the stored draws of all chains together.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.plan.memory_limit = bytes;
        self
    }

    /// Sets the number of consecutive iterations without a finite log posterior after which a chain ends, see
    /// [`Builder::non_finite_limit`](crate::Builder::non_finite_limit).
    #[must_use]
    pub fn non_finite_limit(mut self, iterations: u64) -> Self {
        self.plan.non_finite_limit = iterations;
        self
    }

    /// Sets the progress reports: [`ProgressOption::lines`], or any reporter with [`ProgressOption::by`].
    #[must_use]
    pub fn progress(mut self, progress: ProgressOption) -> Self {
        self.plan.progress = progress;
        self
    }

    /// Sets a signal that stops the chains. Their draws are kept.
    #[must_use]
    pub fn stop_on(mut self, signal: &StopSignal) -> Self {
        self.plan.stop = signal.clone();
        self
    }

    /// Sets the store and the interval of checkpoints.
    ///
    /// A run with the same store resumes from the last checkpoint. Its draws are bit for bit those of a run without
    /// interruption. It may have more draws than the saved run. Fewer draws than were saved are an error, and so is a
    /// checkpoint of a run with another identity, layout, start, seed, burn-in or thinning.
    #[must_use]
    pub fn checkpoint(mut self, store: impl CheckpointStore + 'static, every: CheckpointInterval) -> Self {
        self.plan.checkpoints = Some(Checkpoints { store: Arc::new(store), every });
        self
    }

    /// Makes `draws` draws of every chain and keeps them in memory.
    ///
    /// A chain that interleaves M Markov chains is recorded as M chains, see
    /// [`Builder::sample`](crate::Builder::sample).
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, no chain can be created, the chains do not have the same layout,
    /// or the draws would exceed the memory limit. A chain that fails later keeps its draws and has the error as its
    /// outcome, see [`Fit::outcomes`].
    pub fn sample(&self, draws: usize) -> Result<Fit> {
        let created = self.create()?;
        let draws = chain_group::whole_rounds(draws, created.interleaved);
        self.plan.check_memory(draws, created.layout.value_count(), created.stats.len())?;
        let (layout, interleaved, observations) = (created.layout.clone(), created.interleaved, created.observations);
        let chains = self.run(&self.plan, created, draws, |_| Memory::default())?;
        let info = RunInfo {
            algorithm: self.identity.clone(),
            observations,
            interleaved,
            ..chain_group::info(&self.plan, &chains)
        };
        chain_group::fit(layout, chains, info)
    }

    /// Passes `draws` draws of every chain to a sink of its own. `sink` creates the sink from the index of the chain.
    /// Returns the output of each sink and the outcome of its chain.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`sample`](Self::sample), except the memory limit of the draws. The outputs of the sinks
    /// are returned if a chain fails later.
    pub fn sample_into<S: Sink>(
        &self,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<(S::Output, ChainOutcome)>> {
        let created = self.create()?;
        let draws = chain_group::whole_rounds(draws, created.interleaved);
        let plan = Plan { predicts_bias: false, ..self.plan.clone() };
        let chains = self.run(&plan, created, draws, sink)?;
        Ok(chains.into_iter().map(|chain| (chain.output, chain.outcome)).collect())
    }

    /// Creates all chains, in parallel.
    fn create(&self) -> Result<Created> {
        self.plan.check()?;
        let make = |index: usize| {
            let rng = ChainRng::new(self.plan.seed, index as u64);
            guard(|| "the closure that makes chains".into(), || (self.make)(index, rng))
        };
        let chains: Vec<_> = self.plan.chain_indices().into_par_iter().map(make).collect();
        let Some(first) = chains.iter().find_map(|chain| chain.as_ref().ok()) else {
            return Err(chains.into_iter().find_map(Result::err).unwrap_or(Error::EmptyModel));
        };
        let (layout, stats) = (first.layout().clone(), first.stat_names());
        let (interleaved, observations) = (first.interleaved_chains().max(1), first.observations());
        let differs = |chain: &dyn Chain| {
            *chain.layout() != layout
                || chain.stat_names() != stats
                || chain.interleaved_chains().max(1) != interleaved
                || chain.position().len() != layout.dim()
        };
        if let Some(index) = chains.iter().position(|chain| chain.as_ref().is_ok_and(|chain| differs(chain.as_ref()))) {
            return Err(Error::Setting {
                name: "the chains of a run",
                value: format!("chain {index} has a layout or statistics of its own"),
                expected: "all chains have the same parameters, statistics and number of interleaved chains",
            });
        }
        Ok(Created { chains, layout, stats, interleaved, observations })
    }

    /// Runs chains that have been created.
    fn run<S: Sink>(
        &self,
        plan: &Plan,
        created: Created,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<ChainResult<S::Output>>> {
        let Created { chains, layout, stats, interleaved, observations } = created;
        let _claim = plan.checkpoints.as_ref().map(|checkpoints| checkpoints.store.claim()).transpose()?;
        let member = |(index, chain): (usize, Result<Box<dyn Chain>>)| {
            let theta = chain.as_ref().map_or(&[][..], |chain| chain.position());
            let fingerprint =
                plan.checkpoints.as_ref().map(|_| self.fingerprint(&layout, observations, index, theta, draws));
            PendingChain { start: chain, fingerprint }
        };
        let chains = self.plan.chain_indices().zip(chains).map(member).collect();
        let group = ChainGroup { plan, layout: layout.clone(), stats, interleaved, draws };
        group.run(chains, |chain, _| chain, sink)
    }

    /// Returns the fingerprint of chain number `chain`, which starts at `theta`.
    fn fingerprint(
        &self,
        layout: &Layout,
        observations: usize,
        chain: usize,
        theta: &[f64],
        draws: usize,
    ) -> RunFingerprint {
        let Plan { seed, burn_in, thin, .. } = self.plan;
        RunFingerprint {
            version: env!("CARGO_PKG_VERSION").into(),
            layout: layout.clone(),
            observations,
            data: None,
            model: ModelIdentity::Recorded(Fingerprint::new(self.identity.as_bytes())),
            algorithm: self.identity.clone(),
            functions: None,
            gradient: String::new(),
            schedules: Schedules::new(&1.0.into(), &1.0.into(), self.plan.iterations(draws)),
            start: fingerprint_of_start(theta),
            seed,
            chain,
            burn_in,
            thin,
            threshold: format!("{:?}", self.plan.threshold),
            updates: Vec::new(),
        }
    }
}
