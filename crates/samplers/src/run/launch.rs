//! Execution of runs: starts, the mode search, and the chains.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{ChainRng, Error, Fingerprint, GradientEstimator, Layout, Mode, Result, Target};

use super::builder::{Builder, Plan};
use super::checkpoint::{Checkpointer, RunFingerprint, Schedules};
use super::driver::{ChainResult, Task};
use super::guard::guard;
use super::starts::ChainStart;
use super::{ModePlan, Sampler, Starts, driver, files};
use crate::chain::{Chain, ChainSpec};
use crate::dynamics::Dynamics;
use sgmcmc_fit::sink::{Interleaved, Memory, Schema, Sink};
use sgmcmc_fit::{Bias, ChainOutcome, Fit, RunInfo};

/// A run that is ready to start.
struct Prepared<D, G> {
    spec: ChainSpec<D, G>,
    layout: Layout,
    chains: Vec<ChainStart>,
    mode: Option<Mode>,
}

/// A run that has ended.
struct FinishedRun<O> {
    result: ChainResult<O>,
    /// True if the run reached its first step.
    started: bool,
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
        let one = Plan { chains: 1, ..self.plan.clone() };
        let Prepared { spec, chains, mode, .. } = self.prepare(&Starts::Same(start), &one)?;
        let mut chains = chains.into_iter();
        let Some(first) = chains.next() else { return Err(Error::EmptyModel) };
        let chain = self.chain(&spec, first, 0)?;
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
        let draws = self.whole_rounds(draws);
        let values = prepared.layout.value_count();
        let stats = self.stat_names(&prepared.layout).len();
        let needed = Memory::bytes(draws, values, stats).saturating_mul(self.plan.chains);
        if needed > self.plan.memory_limit {
            return Err(Error::memory(
                format!("storing {draws} draws of {values} values"),
                needed,
                self.plan.memory_limit,
                "use `thin`, or `sample_into` with `Moments` or `TestFunction`, which keep a few numbers; or raise `memory_limit`",
            ));
        }
        let (layout, mode) = (prepared.layout.clone(), prepared.mode.clone());
        let observations = prepared.chains.first().map_or(0, |start| start.evaluator.observations());
        let chains = self.run(&self.plan, prepared, draws, |_| Memory::default())?;
        let info = self.info(observations, &chains);
        let (chains, outcomes) = chains.into_iter().map(|chain| (chain.output, chain.outcome)).unzip();
        Ok(Fit::new(layout, chains)?.with_outcomes(outcomes)?.with_mode(mode).with_info(info))
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
        let chains = self.run(&plan, prepared, self.whole_rounds(draws), sink)?;
        Ok(chains.into_iter().map(|chain| (chain.output, chain.outcome)).collect())
    }

    /// Returns the number of interleaved Markov chains of each run.
    fn interleaved_chains(&self) -> usize {
        self.dynamics.interleaved_chains().max(1)
    }

    /// Rounds `draws` up so that all interleaved chains have the same number of draws.
    fn whole_rounds(&self, draws: usize) -> usize {
        let chains = self.interleaved_chains();
        draws.div_ceil(chains).saturating_mul(chains)
    }

    /// Resolves the starts, searches for the mode and checks the settings. Converts panics into errors.
    fn prepare(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        guard(|| "a closure that draws starts, a schedule or a mode search".into(), || self.try_prepare(starts, plan))
    }

    /// Implements [`prepare`](Self::prepare), without the conversion of panics.
    fn try_prepare(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        plan.check()?;
        let resolve = |chain| starts.resolve(&*self.target, plan.chains, plan.seed, chain);
        let mut chains = (0..plan.chains).map(resolve).collect::<Result<Vec<_>>>()?;
        let Some(first) = chains.first() else { return Err(Error::EmptyModel) };
        let layout = first.evaluator.layout().clone();
        let workspace = self.dynamics.workspace(layout.dim()).saturating_mul(plan.chains);
        if workspace > plan.memory_limit {
            return Err(Error::memory(
                format!("the matrices of the algorithm in {} dimensions for {} chains", layout.dim(), plan.chains),
                workspace,
                plan.memory_limit,
                "use an algorithm or a setting without dense matrices, run fewer chains, or raise `memory_limit`",
            ));
        }
        let mut gradient = self.gradient.clone();
        let ChainStart { evaluator, theta } = resolve(0)?;
        let mode = self.mode.find(&mut gradient, evaluator, &theta)?;
        let common = matches!(starts, Starts::Same(_));
        if let Some(mode) = mode.as_ref().filter(|_| common) {
            chains.iter_mut().for_each(|start| start.theta.copy_from_slice(&mode.theta));
        }
        // Cores that run no chain are used for large matrix products.
        let threads = (rayon::current_num_threads() / plan.chains).max(1);
        chains.iter_mut().for_each(|start| start.evaluator.set_threads(threads));
        let spec = ChainSpec {
            dynamics: Arc::new(self.dynamics.clone()),
            gradient: Arc::new(gradient),
            step_size: self.step_size.clone(),
            temperature: self.temperature.clone(),
        };
        if plan.chains > 1 && common && plan.jitter > 0.0 {
            self.spread_out(&spec, &layout, starts, &mut chains)?;
        }
        Ok(Prepared { spec, layout, chains, mode })
    }

    /// Moves every start by `jitter` √h F z, where M = F Fᵀ is the initial matrix of the algorithm.
    fn spread_out(
        &self,
        spec: &ChainSpec<D, G>,
        layout: &Layout,
        starts: &Starts<'_, T::Params>,
        chains: &mut [ChainStart],
    ) -> Result<()> {
        let Some(common) = chains.first() else { return Ok(()) };
        // The matrix may depend on the state of a chain. A temporary chain at the common start provides it.
        let mut chain = if self.dynamics.is_preconditioned() {
            let ChainStart { evaluator, .. } = starts.resolve(&*self.target, self.plan.chains, self.plan.seed, 0)?;
            Some(spec.start(evaluator, &common.theta, ChainRng::new(self.plan.seed, 0))?)
        } else {
            None
        };
        let mut step_schedule = self.step_size.resolve(layout, &self.temperature)?;
        let context = step_schedule.context(0)?;
        for (index, ChainStart { theta, .. }) in chains.iter_mut().enumerate() {
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
        let Prepared { spec, layout, mut chains, .. } = prepared;
        let _claim = plan.checkpoints.as_ref().map(|checkpoints| checkpoints.store.claim()).transpose()?;
        let fingerprint = match &plan.checkpoints {
            Some(_) => Some(guard(|| "a schedule".into(), || self.fingerprint(&layout, &mut chains, draws))?),
            None => None,
        };
        let make = |run| Interleaved::new(run, self.interleaved_chains(), &sink);
        let sinks: Vec<_> =
            guard(|| "the closure that makes sinks".into(), || Ok((0..chains.len()).map(make).collect()))?;
        files::check_distinct(&sinks)?;
        let stats = self.stat_names(&layout);
        let run = |(index, (mut start, mut sink)): (usize, (ChainStart, Interleaved<S>))| {
            let start_fingerprint = fingerprint_of_start(&start.theta);
            let started = guard(
                || "a closure of the first step".into(),
                || {
                    let schema = Schema { layout: layout.clone(), draws, chain: index, stats: stats.clone() };
                    sink.begin(&schema)?;
                    start.evaluator.allocate_on_this_thread()?;
                    self.chain(&spec, start, index)
                },
            );
            match started {
                Ok(chain) => {
                    let checkpointer =
                        fingerprint.as_ref().zip(plan.checkpoints.as_ref()).map(|(common, checkpoints)| {
                            let fingerprint =
                                RunFingerprint { chain: index, start: start_fingerprint, ..common.clone() };
                            Checkpointer::new(checkpoints.clone(), fingerprint)
                        });
                    let task = Task { index, stats: stats.len(), checkpointer };
                    let result = driver::run_chain(chain, sink, plan, draws, task)?;
                    Ok(FinishedRun { result, started: true })
                }
                // The draws of the other chains are in their checkpoints. Ending the sink of this chain could replace
                // its files.
                Err(error) if fingerprint.is_some() => Err(error),
                Err(error) => Ok(FinishedRun { result: driver::failed(sink, error)?, started: false }),
            }
        };
        // The indexed iterator keeps the results in the order of the chains. The scope moves a single chain to a thread
        // of the pool, where splitting its work is cheapest.
        let tasks: Vec<_> = chains.into_iter().zip(sinks).collect();
        let runs: Result<Vec<FinishedRun<_>>> = rayon::scope(|_| tasks.into_par_iter().enumerate().map(run).collect());
        let runs = runs?;
        if runs.iter().all(|run| !run.started)
            && let Some(ChainOutcome::Failed(error)) = runs.first().map(|run| &run.result.outcome)
        {
            return Err(error.clone());
        }
        Ok(runs.into_iter().flat_map(|run| run.result.split_interleaved()).collect())
    }

    /// Returns the names of the statistics of each draw: those of the algorithm, and αₜ if there is a sampling
    /// threshold.
    fn stat_names(&self, layout: &Layout) -> Vec<String> {
        let mut names = self.dynamics.stat_names(layout);
        names.extend(self.plan.threshold.map(|_| "alpha".to_owned()));
        names
    }

    /// Creates chain number `index` at `start`.
    fn chain(&self, spec: &ChainSpec<D, G>, start: ChainStart, index: usize) -> Result<Box<dyn Chain>> {
        let rng = ChainRng::new(self.plan.seed, index as u64);
        let chain = Box::new(spec.start(start.evaluator, &start.theta, rng)?);
        Ok(match &self.plan.gibbs {
            Some(gibbs) => gibbs.wrap(chain, index),
            None => chain,
        })
    }

    /// Returns the settings and the cost of the run.
    fn info<O>(&self, observations: usize, chains: &[ChainResult<O>]) -> RunInfo {
        let minibatch = chains.first().map_or(0, |chain| chain.cost.minibatch);
        RunInfo {
            algorithm: format!("{:?}", self.dynamics),
            gradient: format!("{:?}", self.gradient),
            step_size: format!("{:?} at temperature {:?}", self.step_size, self.temperature),
            observations,
            minibatch: (minibatch > 0).then_some(minibatch as f64),
            seed: self.plan.seed,
            burn_in: self.plan.burn_in,
            thin: self.plan.thin,
            interleaved: self.interleaved_chains(),
            iterations: chains.iter().map(|chain| chain.iterations).collect(),
            gradients: chains.iter().map(|chain| chain.cost.gradients).collect(),
            undefined: chains.iter().map(|chain| chain.undefined).collect(),
            seconds: chains.iter().map(|chain| chain.seconds).collect(),
            bias: Bias::worst(chains.iter().map(|chain| chain.bias.clone())),
            tuning: None,
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Returns the fingerprint of the first chain. Other chains differ in their index and start.
    ///
    /// It contains the `Debug` texts of the settings, which checkpoints compare.
    fn fingerprint(&self, layout: &Layout, chains: &mut [ChainStart], draws: usize) -> Result<RunFingerprint> {
        let Some(ChainStart { evaluator, theta }) = chains.first_mut() else { return Err(Error::EmptyModel) };
        let Plan { seed, burn_in, thin, threshold, gibbs, .. } = &self.plan;
        let end = burn_in.saturating_add(thin.saturating_mul(draws as u64));
        Ok(RunFingerprint {
            version: env!("CARGO_PKG_VERSION").into(),
            layout: layout.clone(),
            observations: evaluator.observations(),
            data: self.target.fingerprint(),
            model: evaluator.identity(theta)?,
            algorithm: format!("{:?}", self.dynamics),
            gradient: format!("{:?}", self.gradient),
            schedules: Schedules::new(&self.step_size, &self.temperature, end),
            start: fingerprint_of_start(theta),
            seed: *seed,
            chain: 0,
            burn_in: *burn_in,
            thin: *thin,
            threshold: format!("{threshold:?}"),
            gibbs: gibbs.is_some(),
        })
    }
}

/// Returns the fingerprint of the coordinates of a start.
fn fingerprint_of_start(theta: &[f64]) -> Fingerprint {
    let mut parts = Fingerprinter::new();
    parts.numbers(theta);
    parts.finish()
}
