//! Execution of runs: starts, the mode search, and the chains.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{ChainRng, Error, Fingerprint, GradientEstimator, Layout, Mode, Result, Split, Target};

use super::builder::Builder;
use super::chain_group::{self, ChainGroup, PendingChain};
use super::checkpoint::{RunFingerprint, Schedules};
use super::driver::ChainResult;
use super::guard::guard;
use super::plan::{Labels, Plan};
use super::starts::ChainStart;
use super::{ModePlan, Sampler, Starts};
use crate::chain::{Chain, ChainSpec, GradientChain};
use crate::compose::{Composed, Updates};
use crate::dynamics::Dynamics;
use sgmcmc_fit::sink::{Memory, Sink};
use sgmcmc_fit::{ChainOutcome, Fit, RunInfo};

/// A run that is ready to start.
struct Prepared<D, G> {
    spec: ChainSpec<D, G>,
    layout: Layout,
    /// The division into free and held parameters, if some are held.
    split: Option<Split>,
    chains: Vec<ChainStart>,
    /// The updates of the first chain, which name the statistics. Those of the others are made where they start, so that
    /// a panic there ends one chain only.
    updates: Vec<Updates>,
    mode: Option<Mode>,
}

impl<T, D, G, M> Builder<T, D, G, M>
where
    T: Target,
    G: GradientEstimator + Clone + std::fmt::Debug + 'static,
    D: Dynamics<G> + Clone + std::fmt::Debug + 'static,
    M: ModePlan<G>,
{
    /// Creates a chain at `start`, or at the mode if there is a mode search, that is stepped by hand.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, the start is not in the support, or the model fails there.
    pub fn start(&self, start: &T::Params) -> Result<Sampler<T::Params>> {
        let one = Plan { chains: 1, chain_range: None, ..self.plan.clone() };
        let Prepared { spec, split, chains, updates, mode, .. } = self.prepare(&Starts::Same(start), &one)?;
        let Some(start_of_chain) = chains.into_iter().next() else {
            return Err(Error::EmptyModel);
        };
        let chain = self.chain(&spec, split, start_of_chain, updates, 0)?;
        Sampler::new(chain, self.target.clone(), start, mode)
    }

    /// Makes `draws` draws of every chain and keeps them in memory.
    ///
    /// [`Hamcmc`](crate::langevin::Hamcmc) and [`HmcBfgs`](crate::metropolis::HmcBfgs) interleave M chains: iteration t
    /// moves chain (t − 1) mod M. Their runs are recorded as M chains each, so that R-hat, effective sample sizes and
    /// Monte Carlo errors are computed from the separate chains: C runs give a fit of C·M chains, numbered run by run.
    /// `draws` is the number of draws of all M chains of a run together and is rounded up to a multiple of M; each
    /// chain has `draws`/M of them. With other algorithms M is 1.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, the start is not in the support, the model fails there, or the
    /// draws would exceed the memory limit. A chain that fails later keeps its draws and has the error as its outcome,
    /// see [`Fit::outcomes`].
    pub fn sample<'a>(&self, start: impl Into<Starts<'a, T::Params>>, draws: usize) -> Result<Fit>
    where
        T::Params: 'a,
    {
        let prepared = self.prepare(&start.into(), &self.plan)?;
        let draws = chain_group::whole_rounds(draws, self.interleaved_chains());
        let stats = self.stat_names(&prepared).len();
        self.plan.check_memory(draws, prepared.layout.value_count(), stats)?;
        let (layout, mode) = (prepared.layout.clone(), prepared.mode.clone());
        let observations = prepared.chains.first().map_or(0, |start| start.evaluator.observations());
        let chains = self.run(&self.plan, prepared, draws, |_| Memory::default())?;
        let info = self.info(observations, mode.is_some(), &chains);
        Ok(chain_group::fit(layout, chains, info)?.with_mode(mode))
    }

    /// Passes `draws` draws of every chain to a sink of its own. `sink` creates the sink from the index of the chain.
    /// Returns the output of each sink and the outcome of its chain.
    ///
    /// Each of M interleaved chains has its own sink, see [`sample`](Self::sample): chain k of run r has the index
    /// r·M + k. `draws` is the number of draws of all M chains together. The outcome of a run is that of all its chains.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`sample`](Self::sample), except the memory limit of the draws. The outputs of the sinks
    /// are returned if a chain fails later.
    pub fn sample_into<'a, S: Sink>(
        &self,
        start: impl Into<Starts<'a, T::Params>>,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<(S::Output, ChainOutcome)>>
    where
        T::Params: 'a,
    {
        let prepared = self.prepare(&start.into(), &self.plan)?;
        // The outputs of sinks do not include a prediction of the bias.
        let plan = Plan { predicts_bias: false, ..self.plan.clone() };
        let chains = self.run(&plan, prepared, chain_group::whole_rounds(draws, self.interleaved_chains()), sink)?;
        Ok(chains.into_iter().map(|chain| (chain.output, chain.outcome)).collect())
    }

    /// Returns the number of interleaved Markov chains of each run.
    fn interleaved_chains(&self) -> usize {
        self.dynamics.interleaved_chains().max(1)
    }

    /// Resolves the starts, searches for the mode and checks the settings. Converts panics into errors.
    fn prepare(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        guard(
            || "a closure that draws starts or makes updates, a schedule or a mode search".into(),
            || self.try_prepare(starts, plan),
        )
    }

    /// Implements [`prepare`](Self::prepare), without the conversion of panics.
    fn try_prepare(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        plan.check()?;
        let resolve = |chain| starts.resolve(&*self.target, plan.chains, plan.seed, chain);
        let indices = plan.chain_indices();
        let mut chains = indices.clone().map(resolve).collect::<Result<Vec<_>>>()?;
        let Some(first) = chains.first() else { return Err(Error::EmptyModel) };
        let layout = Labels::add_all(&plan.labels, first.evaluator.layout().clone())?;
        let split = if plan.held.is_empty() { None } else { Some(Split::new(&layout, &plan.held)?) };
        let dim = split.as_ref().map_or(layout.dim(), |split| split.layout().dim());
        let workspace = self.dynamics.workspace(dim).saturating_mul(chains.len());
        if workspace > plan.memory_limit {
            return Err(Error::memory(
                format!("the matrices of the algorithm in {dim} dimensions for {} chains", chains.len()),
                workspace,
                plan.memory_limit,
                "use an algorithm or a setting without dense matrices, run fewer chains, or raise `memory_limit`",
            ));
        }
        let mut gradient = self.gradient.clone();
        let ChainStart { evaluator, theta } = resolve(0)?;
        let search = || self.mode.find(&mut gradient, evaluator, &theta);
        let mode = if self.mode.searches() {
            plan.progress.preparing("search for the posterior mode", search)?
        } else {
            search()?
        };
        let common = matches!(starts, Starts::Same(_));
        if let Some(mode) = mode.as_ref().filter(|_| common) {
            chains.iter_mut().for_each(|start| start.theta.copy_from_slice(&mode.theta));
        }
        // Cores that run no chain are used for large matrix products.
        let threads = (rayon::current_num_threads() / chains.len()).max(1);
        chains.iter_mut().for_each(|start| start.evaluator.set_threads(threads));
        let spec = ChainSpec {
            dynamics: Arc::new(self.dynamics.clone()),
            gradient: Arc::new(gradient),
            step_size: self.step_size.clone(),
            temperature: self.temperature.clone(),
        };
        if plan.chains > 1 && common && plan.jitter > 0.0 {
            self.spread_out(&spec, &layout, split.as_ref(), starts, &mut chains)?;
        }
        Ok(Prepared { spec, layout, split, chains, updates: self.updates(indices.start), mode })
    }

    /// Makes the updates of each interleaved chain of run number `run`.
    fn updates(&self, run: usize) -> Vec<Updates> {
        let interleaved = self.interleaved_chains();
        let indices = run * interleaved..(run + 1) * interleaved;
        indices.map(|index| self.plan.updates.iter().map(|update| update.make(index)).collect()).collect()
    }

    /// Moves every start by `jitter` √h F z, where M = F Fᵀ is the initial matrix of the algorithm.
    fn spread_out(
        &self,
        spec: &ChainSpec<D, G>,
        layout: &Layout,
        split: Option<&Split>,
        starts: &Starts<'_, T::Params>,
        chains: &mut [ChainStart],
    ) -> Result<()> {
        let Some(common) = chains.first() else { return Ok(()) };
        // The matrix may depend on the state of a chain. A temporary chain at the common start provides it.
        let mut chain = if self.dynamics.is_preconditioned() {
            let ChainStart { evaluator, .. } = starts.resolve(&*self.target, self.plan.chains, self.plan.seed, 0)?;
            Some(spec.start_holding(evaluator, &common.theta, ChainRng::new(self.plan.seed, 0), split.cloned())?)
        } else {
            None
        };
        let layout = split.map_or(layout, Split::layout);
        let mut step_schedule = self.step_size.resolve(layout, &self.temperature)?;
        let context = step_schedule.context(0)?;
        for (index, start) in self.plan.chain_indices().zip(chains.iter_mut()) {
            let mut theta = split.map_or_else(|| start.theta.clone(), |split| split.free(&start.theta));
            let mut rng = ChainRng::before_start(self.plan.seed, index as u64);
            let mut z: Vec<f64> = theta.iter().map(|_| rng.sample(StandardNormal)).collect();
            if let Some(chain) = &mut chain {
                chain.apply_root(&mut z)?;
            }
            for block in context.blocks {
                let scale = self.plan.jitter * block.h.sqrt();
                let moved = theta[block.range.clone()].iter_mut().zip(&z[block.range.clone()]);
                moved.for_each(|(x, z)| *x += scale * z);
            }
            match split {
                Some(split) => split.set_free(&theta, &mut start.theta),
                None => start.theta = theta,
            }
        }
        Ok(())
    }

    /// Runs all chains. The result has one entry per recorded chain.
    ///
    /// A chain that cannot start ends with its error, and the others run.
    ///
    /// # Errors
    ///
    /// Returns an error if no chain can start, and the errors of checkpoints.
    fn run<S: Sink>(
        &self,
        plan: &Plan,
        prepared: Prepared<D, G>,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<ChainResult<S::Output>>> {
        let stats = self.stat_names(&prepared);
        let Prepared { spec, layout, split, mut chains, updates, .. } = prepared;
        let _claim = plan.checkpoints.as_ref().map(|checkpoints| checkpoints.store.claim()).transpose()?;
        let fingerprint = match &plan.checkpoints {
            Some(_) => {
                let call = || {
                    let updates = updates.first().into_iter().flatten().map(|update| update.settings()).collect();
                    self.fingerprint(&layout, &mut chains, updates, draws)
                };
                Some(guard(|| "a schedule or an update".into(), call)?)
            }
            None => None,
        };
        let mut first_updates = Some(updates);
        let members = plan.chain_indices().zip(chains).map(|(chain, start)| {
            let own = |common: &RunFingerprint| -> Result<RunFingerprint> {
                let free = split.as_ref().map(|split| split.free(&start.theta));
                let functions = self.dynamics.fingerprint_of_functions(free.as_ref().unwrap_or(&start.theta))?;
                let start = fingerprint_of_start(&start.theta);
                Ok(RunFingerprint { chain, start, functions, ..common.clone() })
            };
            let fingerprint = fingerprint.as_ref().map(own).transpose()?;
            Ok(PendingChain { start: (start, first_updates.take()), fingerprint })
        });
        let members = members.collect::<Result<Vec<_>>>()?;
        let group = ChainGroup { plan, layout, stats, interleaved: self.interleaved_chains(), draws };
        let start = |(mut start, updates): (ChainStart, Option<Vec<Updates>>), index: usize| {
            start.evaluator.allocate_on_this_thread()?;
            let updates = updates.unwrap_or_else(|| self.updates(index));
            let chain: Box<dyn Chain> = self.chain(&spec, split.clone(), start, updates, index)?;
            Ok(chain)
        };
        group.run(members, start, sink)
    }

    /// Returns the names of the statistics of each draw: those of the algorithm and of the updates, and αₜ if there
    /// is a sampling threshold.
    fn stat_names(&self, prepared: &Prepared<D, G>) -> Vec<String> {
        let Prepared { layout, split, updates, .. } = prepared;
        let mut names = self.dynamics.stat_names(split.as_ref().map_or(layout, Split::layout));
        names.extend(updates.first().map_or_else(Vec::new, |updates| Composed::stat_names(updates)));
        names.extend(self.plan.threshold.map(|_| "alpha".to_owned()));
        names
    }

    /// Creates chain number `index` at `start`, with the updates of each of its interleaved chains.
    fn chain(
        &self,
        spec: &ChainSpec<D, G>,
        split: Option<Split>,
        start: ChainStart,
        updates: Vec<Updates>,
        index: usize,
    ) -> Result<Box<dyn GradientChain>> {
        let rng = ChainRng::new(self.plan.seed, index as u64);
        let chain = Box::new(spec.start_holding(start.evaluator, &start.theta, rng, split)?);
        Ok(if self.plan.updates.is_empty() { chain } else { Box::new(Composed::new(chain, updates)) })
    }

    /// Returns the description of the algorithm and of the parameters that it does not move.
    fn algorithm(&self) -> String {
        match &self.plan.held[..] {
            [] => format!("{:?}", self.dynamics),
            held => format!("{:?} holding {}", self.dynamics, held.join(", ")),
        }
    }

    /// Returns the settings and the cost of the run.
    fn info<O>(&self, observations: usize, has_mode: bool, chains: &[ChainResult<O>]) -> RunInfo {
        let gradient = format!("{:?}", self.gradient);
        let place = if has_mode && gradient.starts_with("ControlVariate") { " at the mode" } else { "" };
        RunInfo {
            algorithm: self.algorithm(),
            gradient: gradient + place,
            step_size: format!("{:?} at temperature {:?}", self.step_size, self.temperature),
            observations,
            interleaved: self.interleaved_chains(),
            ..chain_group::info(&self.plan, chains)
        }
    }

    /// Returns the fingerprint of the first chain, without the functions of the algorithm. Other chains differ in their
    /// index, their start, and these functions.
    ///
    /// It contains the `Debug` texts of the settings, which checkpoints compare.
    fn fingerprint(
        &self,
        layout: &Layout,
        chains: &mut [ChainStart],
        updates: Vec<String>,
        draws: usize,
    ) -> Result<RunFingerprint> {
        let Some(ChainStart { evaluator, theta }) = chains.first_mut() else { return Err(Error::EmptyModel) };
        let Plan { seed, burn_in, thin, threshold, .. } = &self.plan;
        Ok(RunFingerprint {
            version: env!("CARGO_PKG_VERSION").into(),
            layout: layout.clone(),
            observations: evaluator.observations(),
            data: self.target.fingerprint(),
            model: evaluator.identity(theta)?,
            algorithm: self.algorithm(),
            functions: None,
            gradient: format!("{:?}", self.gradient),
            schedules: Schedules::new(&self.step_size, &self.temperature, self.plan.iterations(draws)),
            start: fingerprint_of_start(theta),
            seed: *seed,
            chain: 0,
            burn_in: *burn_in,
            thin: *thin,
            threshold: format!("{threshold:?}"),
            updates,
        })
    }
}

/// Returns the fingerprint of the coordinates of a start.
pub(super) fn fingerprint_of_start(theta: &[f64]) -> Fingerprint {
    let mut parts = Fingerprinter::new();
    parts.numbers(theta);
    parts.finish()
}
