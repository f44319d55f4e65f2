//! Putting a run together.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sgmcmc_core::minibatch::IntoScheme;
use sgmcmc_core::mode::Optimiser;
use sgmcmc_core::{ChainRng, Error, Evaluator, GradientEstimator, Layout, Mode, ModeSearch, Result, Target};
use sgmcmc_core::{default_device, tree::to_device};

use super::checkpoint::{CheckpointStore, Checkpoints, Every, Identity, Keeper};
use super::fit::{Ending, Fit};
use super::monitor::{StopSignal, Watch};
use super::{FindMode, Minibatched, ModePlan, NoMode, Sampler, Starts, driver};
use crate::dynamics::Dynamics;
use crate::gibbs::{GibbsFactory, GibbsUpdate};
use crate::kernel::{Kernel, Recipe};
use crate::schedule::SharedSchedule;
use crate::sink::{Memory, Schema, Sink};
use crate::step_size::StepSize;
use crate::threshold::SamplingThreshold;

/// A run in the making: what is sampled, by which algorithm, on which gradients, for how long.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | [`minibatch`](Self::minibatch) | 1 % | observations per gradient: a count, a proportion, or a scheme |
/// | [`temperature`](Self::temperature) | 1 | of the noise; a number or a schedule |
/// | [`seed`](Self::seed) | 0 | of all randomness |
/// | [`chains`](Self::chains) | 1 | run side by side on threads |
/// | [`burn_in`](Self::burn_in) | 0 | iterations before the first draw |
/// | [`thin`](Self::thin) | 1 | iterations per draw |
/// | [`jitter`](Self::jitter) | 10 | how far chains with a common start begin apart, in √h |
/// | [`memory_limit`](Self::memory_limit) | 4 GiB | most that stored draws may take |
#[derive(Clone, Debug)]
pub struct Builder<T, D, G, M = NoMode> {
    target: T,
    dynamics: D,
    gradient: G,
    mode: M,
    step_size: StepSize,
    temperature: SharedSchedule,
    plan: Plan,
}

/// How long, how often, from where, and under whose eyes.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) chains: usize,
    pub(super) burn_in: u64,
    pub(super) thin: u64,
    pub(super) jitter: f64,
    pub(super) memory_limit: usize,
    pub(super) watch: Watch,
    pub(super) stop: StopSignal,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) gibbs: Option<GibbsFactory>,
    pub(super) threshold: Option<SamplingThreshold>,
}

impl<T: Target, D, G> Builder<T, D, G> {
    /// A run of `dynamics` on the gradients of `gradient` with steps of `step_size`.
    pub fn new(target: T, dynamics: D, gradient: G, step_size: impl Into<StepSize>) -> Self {
        let plan = Plan {
            seed: 0,
            chains: 1,
            burn_in: 0,
            thin: 1,
            jitter: 10.0,
            memory_limit: 4 << 30,
            watch: Watch::Off,
            stop: StopSignal::new(),
            checkpoints: None,
            gibbs: None,
            threshold: None,
        };
        let (step_size, temperature) = (step_size.into(), 1.0.into());
        Self { target, dynamics, gradient, mode: NoMode, step_size, temperature, plan }
    }
}

impl<T, D, G, M> Builder<T, D, G, M> {
    /// The algorithm, to change its settings.
    #[must_use]
    pub fn dynamics<E>(self, dynamics: E) -> Builder<T, E, G, M> {
        let Self { target, gradient, mode, step_size, temperature, plan, .. } = self;
        Builder { target, dynamics, gradient, mode, step_size, temperature, plan }
    }

    /// The gradient estimator.
    #[must_use]
    pub fn gradient<H>(self, gradient: H) -> Builder<T, D, H, M> {
        let Self { target, dynamics, mode, step_size, temperature, plan, .. } = self;
        Builder { target, dynamics, gradient, mode, step_size, temperature, plan }
    }

    /// Starts chains at the posterior mode, found by `search` from the start that is given.
    #[must_use]
    pub fn find_mode<O: Optimiser>(self, search: ModeSearch<O>) -> Builder<T, D, G, FindMode<O>> {
        let Self { target, dynamics, gradient, step_size, temperature, plan, .. } = self;
        Builder { target, dynamics, gradient, mode: FindMode(search), step_size, temperature, plan }
    }

    /// Draws minibatches so: an integer is a count, a float a proportion, both without replacement; or any scheme.
    #[must_use]
    pub fn minibatch<S: IntoScheme>(self, scheme: S) -> Builder<T, D, G::With<S::Scheme>, M>
    where
        G: Minibatched,
    {
        let Self { target, dynamics, gradient, mode, step_size, temperature, plan } = self;
        let gradient = gradient.with_scheme(scheme.into_scheme());
        Builder { target, dynamics, gradient, mode, step_size, temperature, plan }
    }

    /// The temperature of the noise: a number or a schedule. At zero the algorithm only climbs.
    #[must_use]
    pub fn temperature(self, temperature: impl Into<SharedSchedule>) -> Self {
        Self { temperature: temperature.into(), ..self }
    }

    /// The seed of all randomness. The same seed gives the same draws whatever the number of threads.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// How many chains are run, side by side on threads.
    #[must_use]
    pub fn chains(mut self, chains: usize) -> Self {
        self.plan.chains = chains;
        self
    }

    /// Iterations before the first draw.
    #[must_use]
    pub fn burn_in(mut self, iterations: u64) -> Self {
        self.plan.burn_in = iterations;
        self
    }

    /// Iterations per draw.
    #[must_use]
    pub fn thin(mut self, iterations: u64) -> Self {
        self.plan.thin = iterations;
        self
    }

    /// How far chains with a common start begin apart: `jitter` √h in every coordinate, h the first step size.
    #[must_use]
    pub fn jitter(mut self, jitter: f64) -> Self {
        self.plan.jitter = jitter;
        self
    }

    /// Most bytes that stored draws may take.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.plan.memory_limit = bytes;
        self
    }

    /// How the run is watched: [`Watch::lines`], or any reporter by [`Watch::by`].
    #[must_use]
    pub fn progress(mut self, watch: Watch) -> Self {
        self.plan.watch = watch;
        self
    }

    /// Lets `signal` stop the chains; what they have drawn is kept.
    #[must_use]
    pub fn stop_on(mut self, signal: &StopSignal) -> Self {
        self.plan.stop = signal.clone();
        self
    }

    /// Keeps draws only from the sampling threshold of Welling & Teh on, after the burn-in, and reports αₜ with each of them.
    #[must_use]
    pub fn collect_below(mut self, threshold: SamplingThreshold) -> Self {
        self.plan.threshold = Some(threshold);
        self
    }

    /// Lets an update of some parameters follow every step; `make` makes it from the number of the chain.
    #[must_use]
    pub fn gibbs<U: GibbsUpdate + 'static>(mut self, make: impl Fn(usize) -> U + Send + Sync + 'static) -> Self {
        self.plan.gibbs = Some(GibbsFactory::new(make));
        self
    }

    /// Saves every chain to `store` on the way. A run of the same settings with the same store goes on where the saved one ended, and
    /// gives the same draws, bit for bit, as one that was never interrupted.
    #[must_use]
    pub fn checkpoint(mut self, store: impl CheckpointStore + 'static, every: Every) -> Self {
        self.plan.checkpoints = Some(Checkpoints { store: Arc::new(store), every });
        self
    }
}

/// A run about to begin.
struct Prepared<D, G> {
    recipe: Recipe<D, G>,
    layout: Layout,
    /// What evaluates the model for each chain, and where the chain starts.
    chains: Vec<(Box<dyn Evaluator>, Vec<f64>)>,
    mode: Option<Mode>,
}

impl Plan {
    fn check(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if self.chains == 0 {
            return refuse("the number of chains", "0".into(), "run at least 1 chain");
        }
        if self.thin == 0 {
            return refuse("thin", "0".into(), "take at least 1 iteration per draw");
        }
        if !(self.jitter.is_finite() && self.jitter >= 0.0) {
            return refuse("jitter", self.jitter.to_string(), "it must be zero or a positive number");
        }
        self.threshold.map_or(Ok(()), |threshold| threshold.check())
    }
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
        let needed = Memory::bytes(draws, prepared.layout.value_count()).saturating_mul(self.plan.chains);
        if needed > self.plan.memory_limit {
            return Err(Error::memory(
                format!("storing {draws} draws of {} values", prepared.layout.value_count()),
                needed,
                self.plan.memory_limit,
                "use `thin`, or `sample_into` with `Moments` or `TestFunction`, which keep a few numbers; or raise `memory_limit`",
            ));
        }
        let (layout, mode) = (prepared.layout.clone(), prepared.mode.clone());
        let (chains, endings) = self.run(prepared, draws, |_| Memory::default())?.into_iter().unzip();
        Ok(Fit { layout, chains, endings, mode })
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
        self.run(prepared, draws, sink)
    }

    fn prepare(&self, starts: &Starts<'_, T::Params>, plan: &Plan) -> Result<Prepared<D, G>> {
        plan.check()?;
        let mut chains = (0..plan.chains).map(|chain| self.place(starts, plan, chain)).collect::<Result<Vec<_>>>()?;
        let Some((first, _)) = chains.first() else { return Err(Error::EmptyModel) };
        let layout = first.layout().clone();
        let mut gradient = self.gradient.clone();
        let (evaluator, theta) = self.place(starts, plan, 0)?;
        let mode = self.mode.find(&mut gradient, evaluator, &theta)?;
        if let Some(mode) = &mode {
            chains.iter_mut().for_each(|(_, theta)| theta.copy_from_slice(&mode.theta));
        }
        if plan.chains > 1 && (mode.is_some() || matches!(starts, Starts::Same(_))) {
            self.spread_out(&layout, &mut chains)?;
        }
        let recipe = Recipe {
            dynamics: Arc::new(self.dynamics.clone()),
            gradient: Arc::new(gradient),
            step_size: self.step_size.clone(),
            temperature: self.temperature.clone(),
        };
        Ok(Prepared { recipe, layout, chains, mode })
    }

    /// What evaluates the model for chain number `chain`, and its coordinates.
    fn place(
        &self,
        starts: &Starts<'_, T::Params>,
        plan: &Plan,
        chain: usize,
    ) -> Result<(Box<dyn Evaluator>, Vec<f64>)> {
        let at = |params: &T::Params| {
            let evaluator = self.target.evaluator(params)?;
            let theta = evaluator.layout().flatten(params)?;
            Ok((evaluator, theta))
        };
        match starts {
            Starts::Same(params) => at(params),
            Starts::Each(params) if params.len() == plan.chains => at(&params[chain]),
            Starts::Each(params) => {
                let (expected, found) = (plan.chains, params.len());
                Err(Error::Length { what: "the list of starts (one per chain)", expected, found })
            }
            Starts::Drawn(draw) => at(&draw(&mut ChainRng::before_start(plan.seed, chain as u64))),
        }
    }

    /// Moves every start by `jitter` √h z.
    fn spread_out(&self, layout: &Layout, chains: &mut [(Box<dyn Evaluator>, Vec<f64>)]) -> Result<()> {
        let mut pace = self.step_size.resolve(layout, &self.temperature)?;
        let tick = pace.tick(0)?;
        for (chain, (_, theta)) in chains.iter_mut().enumerate() {
            let mut rng = ChainRng::before_start(self.plan.seed, chain as u64);
            for piece in tick.pieces {
                let scale = self.plan.jitter * piece.h.sqrt();
                theta[piece.range.clone()].iter_mut().for_each(|x| *x += scale * rng.sample::<f64, _>(StandardNormal));
            }
        }
        Ok(())
    }

    fn run<S: Sink>(
        &self,
        prepared: Prepared<D, G>,
        draws: usize,
        sink: impl Fn(usize) -> S + Sync,
    ) -> Result<Vec<(S::Output, Ending)>> {
        let Prepared { recipe, layout, chains, .. } = prepared;
        let identity = self.identity(&layout, &chains);
        // Indexed, so that the order of the results is that of the chains whatever thread ran them.
        chains
            .into_par_iter()
            .enumerate()
            .map(|(chain, (evaluator, theta))| {
                let kernel = self.kernel(&recipe, evaluator, &theta, chain)?;
                let mut sink = sink(chain);
                sink.begin(&Schema { layout: layout.clone(), draws, chain })?;
                let keeper = Keeper::new(self.plan.checkpoints.clone(), Identity { chain, ..identity.clone() });
                driver::drive(kernel, sink, &self.plan, draws, keeper)
            })
            .collect()
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
            step_size: format!("{:?} at temperature {:?}", self.step_size, self.temperature),
            seed: self.plan.seed,
            chain: 0,
            burn_in: self.plan.burn_in,
            thin: self.plan.thin,
        }
    }
}
