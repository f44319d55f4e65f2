//! From a builder to chains: starts, the mode, and one kernel per chain.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sgmcmc_core::tree::to_device;
use sgmcmc_core::{ChainRng, Error, Evaluator, GradientEstimator, Layout, Mode, Result, Target, default_device};

use super::builder::{Builder, Plan};
use super::checkpoint::{Identity, Keeper};
use super::driver::Driven;
use super::{ModePlan, Sampler, Starts, driver};
use crate::dynamics::Dynamics;
use crate::fit::{Bias, Ending, Fit, RunInfo};
use crate::kernel::{Kernel, Recipe};
use crate::sink::{Memory, Schema, Sink};

/// A run about to begin.
struct Prepared<D, G> {
    recipe: Recipe<D, G>,
    layout: Layout,
    /// What evaluates the model for each chain, and where the chain starts.
    chains: Vec<(Box<dyn Evaluator>, Vec<f64>)>,
    mode: Option<Mode>,
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

    /// `draws` draws of every chain, kept in memory.
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
        let values = prepared.layout.value_count();
        let stats = self.dynamics.stat_names(&prepared.layout).len() + usize::from(self.plan.threshold.is_some());
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
        let chains = self.run(prepared, draws, |_| Memory::default())?;
        let info = self.info(observations, &chains);
        let (chains, endings) = chains.into_iter().map(|chain| (chain.output, chain.ending)).unzip();
        Ok(Fit::new(layout, chains)?.with_endings(endings)?.with_mode(mode).with_info(info))
    }

    /// Hands `draws` draws of every chain to a sink of its own, made by `sink` from the number of the chain.
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
        let chains = self.run(prepared, draws, sink)?;
        Ok(chains.into_iter().map(|chain| (chain.output, chain.ending)).collect())
    }

    fn prepare(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        plan.check()?;
        let place = |chain| starts.place(&self.target, plan.chains, plan.seed, chain);
        let mut chains = (0..plan.chains).map(place).collect::<Result<Vec<_>>>()?;
        let Some((first, _)) = chains.first() else { return Err(Error::EmptyModel) };
        let layout = first.layout().clone();
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
        chains: &mut [(Box<dyn Evaluator>, Vec<f64>)],
    ) -> Result<()> {
        let Some((_, common)) = chains.first() else { return Ok(()) };
        // The matrix may depend on the state of a chain: one that is not run, at the common start, tells it.
        let mut chain = if self.dynamics.is_preconditioned() {
            let (evaluator, _) = starts.place(&self.target, self.plan.chains, self.plan.seed, 0)?;
            Some(recipe.start(evaluator, common, ChainRng::new(self.plan.seed, u64::MAX))?)
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

    fn run<S: Sink>(
        &self,
        prepared: Prepared<D, G>,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<Driven<S::Output>>> {
        let Prepared { recipe, layout, chains, .. } = prepared;
        let identity = self.identity(&layout, &chains);
        let run = |(chain, (mut evaluator, theta)): (usize, (Box<dyn Evaluator>, Vec<f64>))| {
            evaluator.settle()?;
            let kernel = self.kernel(&recipe, evaluator, &theta, chain)?;
            let mut sink = sink(chain);
            let stats = driver::stat_names(kernel.as_ref(), &self.plan);
            sink.begin(&Schema { layout: layout.clone(), draws, chain, stats })?;
            let keeper = Keeper::new(self.plan.checkpoints.clone(), Identity { chain, ..identity.clone() });
            driver::drive(kernel, sink, &self.plan, draws, keeper)
        };
        // Indexed, so that the order of the results is that of the chains whatever thread ran them; in a scope, so that a
        // single chain runs on a thread of the pool too, where dividing its work is cheapest.
        rayon::scope(|_| chains.into_par_iter().enumerate().map(run).collect())
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
            iterations: chains.iter().map(|chain| chain.iterations).collect(),
            gradients: chains.iter().map(|chain| chain.cost.gradients).collect(),
            seconds: chains.iter().map(|chain| chain.seconds).collect(),
            bias: Bias::worst(chains.iter().map(|chain| chain.bias.clone())),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    fn step_size_in_words(&self) -> String {
        format!("{:?} at temperature {:?}", self.step_size, self.temperature)
    }

    /// What a checkpoint must have in common with this run.
    fn identity(&self, layout: &Layout, chains: &[(Box<dyn Evaluator>, Vec<f64>)]) -> Identity {
        let needed = self.plan.checkpoints.is_some();
        Identity {
            version: env!("CARGO_PKG_VERSION").into(),
            layout: layout.clone(),
            observations: chains.first().map_or(0, |(evaluator, _)| evaluator.observations()),
            data: if needed { self.target.fingerprint() } else { 0 },
            algorithm: format!("{:?}", self.dynamics),
            gradient: format!("{:?}", self.gradient),
            step_size: self.step_size_in_words(),
            seed: self.plan.seed,
            chain: 0,
            burn_in: self.plan.burn_in,
            thin: self.plan.thin,
        }
    }
}
