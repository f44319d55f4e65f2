//! From a builder to chains: starts, the mode, and one kernel per chain.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sgmcmc_core::fingerprint::Fingerprinter;
use sgmcmc_core::tree::to_device;
use sgmcmc_core::{
    ChainRng, Error, Evaluator, Fingerprint, GradientEstimator, Layout, Mode, Result, Target, default_device,
};

use super::builder::{Builder, Plan};
use super::checkpoint::{Identity, Keeper, Schedules};
use super::driver::{Driven, Task};
use super::guard::guard;
use super::{ModePlan, Sampler, Starts, driver, files};
use crate::dynamics::Dynamics;
use crate::fit::{Bias, Ending, Fit, RunInfo};
use crate::kernel::{Kernel, Recipe};
use crate::sink::{Interleaved, Memory, Schema, Sink};

/// A run about to begin.
struct Prepared<D, G> {
    recipe: Recipe<D, G>,
    layout: Layout,
    chains: Vec<Start>,
    mode: Option<Mode>,
}

/// The evaluator of a chain, and the coordinates where it starts.
type Start = (Box<dyn Evaluator>, Vec<f64>);

/// A chain that has ended.
struct Launched<O> {
    driven: Driven<O>,
    /// Whether it came as far as the first step.
    started: bool,
}

impl<T, D, G, M> Builder<T, D, G, M>
where
    T: Target,
    G: GradientEstimator + Clone + std::fmt::Debug + 'static,
    D: Dynamics<G> + Clone + std::fmt::Debug + 'static,
    M: ModePlan<G>,
{
    /// One chain at `start` (or at the mode found from there), to be stepped by hand.
    ///
    /// # Errors
    ///
    /// If a setting is out of range, the start is not in the support, or the model fails there.
    pub fn start(&self, start: &T::Params) -> Result<Sampler<T::Params>> {
        let one = Plan { chains: 1, ..self.plan.clone() };
        let Prepared { recipe, chains, mode, .. } = self.prepare(&Starts::Same(start), &one)?;
        let mut chains = chains.into_iter();
        let Some((evaluator, theta)) = chains.next() else { return Err(Error::EmptyModel) };
        let kernel = self.kernel(&recipe, evaluator, &theta, 0)?;
        Sampler::new(kernel, to_device(start, &default_device()), mode)
    }

    /// Makes `draws` draws of every chain and keeps them in memory.
    ///
    /// [`Hamcmc`](crate::Hamcmc) and [`HmcBfgs`](crate::HmcBfgs) interleave M chains: iteration t moves chain (t − 1) mod M. Their
    /// runs are recorded as M chains each, so that R-hat, effective sample sizes and Monte Carlo errors see the chains apart:
    /// C runs give a fit of C·M chains, numbered run by run. `draws` counts the draws of all M chains of a run together and is
    /// rounded up to a multiple of M; each chain has `draws`/M of them. With other algorithms M is 1.
    ///
    /// # Errors
    ///
    /// If a setting is out of range, the start is not in the support, the model fails there, or the draws would take more than
    /// the memory allowed. A chain that fails later keeps its draws and says so in [`Fit::endings`].
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
        let observations = prepared.chains.first().map_or(0, |(evaluator, _)| evaluator.observations());
        let chains = self.run(&self.plan, prepared, draws, |_| Memory::default())?;
        let info = self.info(observations, &chains);
        let (chains, endings) = chains.into_iter().map(|chain| (chain.output, chain.ending)).unzip();
        Ok(Fit::new(layout, chains)?.with_endings(endings)?.with_mode(mode).with_info(info))
    }

    /// Hands `draws` draws of every chain to a sink of its own, made by `sink` from the number of the chain. Returns the output of
    /// each sink and how its chain ended.
    ///
    /// Each of M interleaved chains has its own sink, see [`sample`](Self::sample): chain k of run r is number r·M + k. `draws`
    /// counts the draws of all M together. The ending of a run is that of all its chains.
    ///
    /// # Errors
    ///
    /// As [`sample`](Self::sample). What the sinks hold is returned however a chain ends.
    pub fn sample_into<'a, S: Sink>(
        &self,
        start: impl Into<Starts<'a, T::Params>>,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<(S::Output, Ending)>>
    where
        T::Params: 'a,
    {
        let prepared = self.prepare(&start.into(), &self.plan)?;
        // The outputs of sinks have no place for a prediction of the bias.
        let plan = Plan { examine: false, ..self.plan.clone() };
        let chains = self.run(&plan, prepared, self.whole_rounds(draws), sink)?;
        Ok(chains.into_iter().map(|chain| (chain.output, chain.ending)).collect())
    }

    /// The number of Markov chains that take turns in each run.
    fn interleaved_chains(&self) -> usize {
        self.dynamics.interleaved_chains().max(1)
    }

    /// `draws` rounded up, so that all interleaved chains have the same number of draws.
    fn whole_rounds(&self, draws: usize) -> usize {
        let chains = self.interleaved_chains();
        draws.div_ceil(chains).saturating_mul(chains)
    }

    fn prepare(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        guard(|| "a closure that draws starts, a schedule or a mode search".into(), || self.prepared(starts, plan))
    }

    fn prepared(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        plan.check()?;
        let place = |chain| starts.place(&self.target, plan.chains, plan.seed, chain);
        let mut chains = (0..plan.chains).map(place).collect::<Result<Vec<_>>>()?;
        let Some((first, _)) = chains.first() else { return Err(Error::EmptyModel) };
        let layout = first.layout().clone();
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
        let (evaluator, theta) = place(0)?;
        let mode = self.mode.find(&mut gradient, evaluator, &theta)?;
        let common = matches!(starts, Starts::Same(_));
        if let Some(mode) = mode.as_ref().filter(|_| common) {
            chains.iter_mut().for_each(|(_, theta)| theta.copy_from_slice(&mode.theta));
        }
        // The cores that other chains leave are free for large matrix products.
        let threads = (rayon::current_num_threads() / plan.chains).max(1);
        chains.iter_mut().for_each(|(evaluator, _)| evaluator.set_threads(threads));
        let recipe = Recipe {
            dynamics: Arc::new(self.dynamics.clone()),
            gradient: Arc::new(gradient),
            step_size: self.step_size.clone(),
            temperature: self.temperature.clone(),
        };
        if plan.chains > 1 && common && plan.jitter > 0.0 {
            self.spread_out(&recipe, &layout, starts, &mut chains)?;
        }
        Ok(Prepared { recipe, layout, chains, mode })
    }

    /// Moves every start by `jitter` √h F z, with M = F Fᵀ the matrix that the algorithm starts with.
    fn spread_out(
        &self,
        recipe: &Recipe<D, G>,
        layout: &Layout,
        starts: &Starts<'_, T::Params>,
        chains: &mut [Start],
    ) -> Result<()> {
        let Some((_, common)) = chains.first() else { return Ok(()) };
        // The matrix may depend on the state of a chain: one that is not run, at the common start, tells it.
        let mut chain = if self.dynamics.is_preconditioned() {
            let (evaluator, _) = starts.place(&self.target, self.plan.chains, self.plan.seed, 0)?;
            Some(recipe.start(evaluator, common, ChainRng::new(self.plan.seed, 0))?)
        } else {
            None
        };
        let mut pace = self.step_size.resolve(layout, &self.temperature)?;
        let tick = pace.tick(0)?;
        for (number, (_, theta)) in chains.iter_mut().enumerate() {
            let mut rng = ChainRng::before_start(self.plan.seed, number as u64);
            let mut z: Vec<f64> = theta.iter().map(|_| rng.sample(StandardNormal)).collect();
            if let Some(chain) = &mut chain {
                chain.apply_root(&mut z)?;
            }
            for piece in tick.pieces {
                let scale = self.plan.jitter * piece.h.sqrt();
                let moved = theta[piece.range.clone()].iter_mut().zip(&z[piece.range.clone()]);
                moved.for_each(|(x, z)| *x += scale * z);
            }
        }
        Ok(())
    }

    /// Runs all chains; the result has one entry per recorded chain.
    ///
    /// A chain that cannot start ends with its error, and the others run. If none can, that is an error.
    fn run<S: Sink>(
        &self,
        plan: &Plan,
        prepared: Prepared<D, G>,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<Driven<S::Output>>> {
        let Prepared { recipe, layout, mut chains, .. } = prepared;
        let _claim = plan.checkpoints.as_ref().map(|checkpoints| checkpoints.store.claim()).transpose()?;
        let identity = match &plan.checkpoints {
            Some(_) => Some(guard(|| "a schedule".into(), || self.identity(&layout, &mut chains, draws))?),
            None => None,
        };
        let make = |run| Interleaved::new(run, self.interleaved_chains(), &sink);
        let sinks: Vec<_> =
            guard(|| "the closure that makes sinks".into(), || Ok((0..chains.len()).map(make).collect()))?;
        files::check_distinct(&sinks)?;
        let stats = self.stat_names(&layout);
        let run = |(chain, ((mut evaluator, theta), mut sink)): (usize, (Start, Interleaved<S>))| {
            let started = guard(
                || "a closure of the first step".into(),
                || {
                    let schema = Schema { layout: layout.clone(), draws, chain, stats: stats.clone() };
                    sink.begin(&schema)?;
                    evaluator.settle()?;
                    self.kernel(&recipe, evaluator, &theta, chain)
                },
            );
            match started {
                Ok(kernel) => {
                    let keeper = identity.as_ref().zip(plan.checkpoints.as_ref()).map(|(identity, checkpoints)| {
                        Keeper::new(
                            checkpoints.clone(),
                            Identity { chain, start: start_of(&theta), ..identity.clone() },
                        )
                    });
                    let driven = driver::drive(kernel, sink, plan, draws, Task { chain, stats: stats.len(), keeper })?;
                    Ok(Launched { driven, started: true })
                }
                // The draws of the other chains are in their checkpoints, and a sink that is ended could replace files of this one.
                Err(error) if identity.is_some() => Err(error),
                Err(error) => Ok(Launched { driven: driver::failed(sink, error)?, started: false }),
            }
        };
        // Indexed, so that the order of the results is that of the chains whatever thread ran them; in a scope, so that a
        // single chain runs on a thread of the pool too, where dividing its work is cheapest.
        let tasks: Vec<_> = chains.into_iter().zip(sinks).collect();
        let runs: Result<Vec<Launched<_>>> = rayon::scope(|_| tasks.into_par_iter().enumerate().map(run).collect());
        let runs = runs?;
        if runs.iter().all(|run| !run.started)
            && let Some(Ending::Failed(error)) = runs.first().map(|run| &run.driven.ending)
        {
            return Err(error.clone());
        }
        Ok(runs.into_iter().flat_map(|run| run.driven.apart()).collect())
    }

    /// The names of the numbers that come with each draw: the algorithm's own, and αₜ where it is measured.
    fn stat_names(&self, layout: &Layout) -> Vec<String> {
        let mut names = self.dynamics.stat_names(layout);
        names.extend(self.plan.threshold.map(|_| "alpha".to_owned()));
        names
    }

    /// Chain number `chain`, about to start at `theta`.
    fn kernel(
        &self,
        recipe: &Recipe<D, G>,
        evaluator: Box<dyn Evaluator>,
        theta: &[f64],
        chain: usize,
    ) -> Result<Box<dyn Kernel>> {
        let kernel = Box::new(recipe.start(evaluator, theta, ChainRng::new(self.plan.seed, chain as u64))?);
        Ok(match &self.plan.gibbs {
            Some(gibbs) => gibbs.wrap(kernel, chain),
            None => kernel,
        })
    }

    /// How the run was made, and what it cost.
    fn info<O>(&self, observations: usize, chains: &[Driven<O>]) -> RunInfo {
        let minibatch = chains.first().map_or(0, |chain| chain.cost.minibatch);
        RunInfo {
            algorithm: format!("{:?}", self.dynamics),
            gradient: format!("{:?}", self.gradient),
            step_size: self.step_size_in_words(),
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
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    fn step_size_in_words(&self) -> String {
        format!("{:?} at temperature {:?}", self.step_size, self.temperature)
    }

    /// All that a checkpoint must have in common with this run, but for what differs from chain to chain.
    fn identity(&self, layout: &Layout, chains: &mut [Start], draws: usize) -> Result<Identity> {
        let Some((evaluator, theta)) = chains.first_mut() else { return Err(Error::EmptyModel) };
        let Plan { seed, burn_in, thin, threshold, gibbs, .. } = &self.plan;
        let end = burn_in.saturating_add(thin.saturating_mul(draws as u64));
        Ok(Identity {
            version: env!("CARGO_PKG_VERSION").into(),
            layout: layout.clone(),
            observations: evaluator.observations(),
            data: self.target.fingerprint(),
            model: evaluator.identity(theta)?,
            algorithm: format!("{:?}", self.dynamics),
            gradient: format!("{:?}", self.gradient),
            schedules: Schedules::new(&self.step_size, &self.temperature, end),
            start: start_of(theta),
            seed: *seed,
            chain: 0,
            burn_in: *burn_in,
            thin: *thin,
            threshold: format!("{threshold:?}"),
            gibbs: gibbs.is_some(),
        })
    }
}

/// The fingerprint of the coordinates of a start.
fn start_of(theta: &[f64]) -> Fingerprint {
    let mut parts = Fingerprinter::new();
    parts.numbers(theta);
    parts.finish()
}
