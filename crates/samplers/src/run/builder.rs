//! Putting a run together.

use std::sync::Arc;

use sgmcmc_core::minibatch::IntoScheme;
use sgmcmc_core::{Error, ModeFinder, Result, Target};

use super::checkpoint::{CheckpointStore, Checkpoints, Every};
use super::monitor::{StopSignal, Watch};
use super::{FindMode, Minibatched, NoMode};
use crate::gibbs::{GibbsFactory, GibbsUpdate};
use crate::schedule::{Halved, SharedSchedule};
use crate::step_size::StepSize;
use crate::threshold::SamplingThreshold;

/// A run in the making: what is sampled, by which algorithm, on which gradients, for how long.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | [`minibatch`](Self::minibatch) | 1 % | observations per gradient: a count, a proportion, or a scheme |
/// | [`temperature`](Self::temperature) | 1 | T of the target p(θ\|x)^{1/T}; a number or a schedule |
/// | [`seed`](Self::seed) | 0 | of all randomness |
/// | [`chains`](Self::chains) | 1 | chains that run side by side on threads |
/// | [`burn_in`](Self::burn_in) | 0 | iterations before the first draw |
/// | [`thin`](Self::thin) | 1 | iterations per draw |
/// | [`jitter`](Self::jitter) | 10 | how far chains with a common start begin apart, in standard deviations of the noise of one step |
/// | [`memory_limit`](Self::memory_limit) | 4 GiB | most that stored draws may take |
/// | [`undefined_limit`](Self::undefined_limit) | 100 | iterations in a row without a finite log posterior that end a chain |
/// | [`find_mode`](Self::find_mode) | only with control variates | start at the posterior mode |
/// | [`gibbs`](Self::gibbs) | – | an update of some parameters after every step |
/// | [`collect_below`](Self::collect_below) | – | keep draws from the sampling threshold on |
/// | [`progress`](Self::progress) | off | who is told how far the chains of `sample` are |
/// | [`stop_on`](Self::stop_on) | – | a signal that ends chains early |
/// | [`checkpoint`](Self::checkpoint) | – | save chains on the way, and go on from there |
#[derive(Clone, Debug)]
pub struct Builder<T, D, G, M = NoMode> {
    pub(super) target: T,
    pub(super) dynamics: D,
    pub(super) gradient: G,
    pub(super) mode: M,
    pub(super) step_size: StepSize,
    pub(super) temperature: SharedSchedule,
    pub(super) plan: Plan,
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
    pub(super) undefined_limit: u64,
    pub(super) watch: Watch,
    pub(super) stop: StopSignal,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) gibbs: Option<GibbsFactory>,
    pub(super) threshold: Option<SamplingThreshold>,
    /// Whether the bias of chains is examined when they end.
    pub(super) examine: bool,
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
            undefined_limit: 100,
            watch: Watch::Off,
            stop: StopSignal::new(),
            checkpoints: None,
            gibbs: None,
            threshold: None,
            examine: true,
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

    /// Looks for the posterior mode with `search`, from the start of the first chain: [`LbfgsSearch`](sgmcmc_core::LbfgsSearch) on all
    /// observations, [`ModeSearch`](sgmcmc_core::ModeSearch) on variance-reduced minibatches (on all observations if the estimator has no
    /// minibatches), or [`AutoSearch`](sgmcmc_core::AutoSearch), which chooses the cheaper of the two. The mode becomes the center of control
    /// variates.
    ///
    /// With one start for all chains, they begin at the mode, [`jitter`](Self::jitter) apart. With a start for each chain
    /// ([`Starts::Each`](super::Starts), [`Starts::drawn`](super::Starts::drawn)) they begin where they are told.
    #[must_use]
    pub fn find_mode<F: ModeFinder>(self, search: F) -> Builder<T, D, G, FindMode<F>> {
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

    /// Sets the temperature T: a number or a schedule.
    ///
    /// The values of the parameters are sampled from p(θ|x)^{1/T}, prior and likelihood alike. The Jacobian of constraints is not
    /// tempered, so that this holds for constrained parameters too. On a model that has a temperature of its own
    /// ([`Model::temperature`](sgmcmc_core::Model::temperature)) the two multiply. A Gibbs update must itself draw from the conditional
    /// distributions of p(θ|x)^{1/T}.
    ///
    /// At T = 0 there is no noise and the chain climbs to a mode of p(θ|x) as a density of the values, which is where p(θ|x)^{1/T}
    /// concentrates as T falls. This is not the mode that [`find_mode`](Self::find_mode) looks for, which is that of the density of the
    /// coordinates, Jacobian included. A density whose mode is on the boundary of a constraint, such as the exponential's, has none in
    /// coordinates: they drift off without end. Methods that accept or reject need T > 0.
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

    /// How many chains are run, side by side on threads. An algorithm that interleaves M chains is recorded as M chains for each
    /// of these, see [`sample`](Self::sample).
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

    /// Iterations per draw. An algorithm that interleaves M chains keeps every k-th round of M iterations, k = `iterations`: every
    /// k-th draw of each of its chains.
    #[must_use]
    pub fn thin(mut self, iterations: u64) -> Self {
        self.plan.thin = iterations;
        self
    }

    /// Sets how far chains with a common start begin apart: `jitter` times √h F z with z standard normal, h the first step size and M = F Fᵀ the
    /// matrix of the algorithm. In the units of the algorithm that is `jitter` standard deviations of the noise of its first step.
    #[must_use]
    pub fn jitter(mut self, jitter: f64) -> Self {
        self.plan.jitter = jitter;
        self
    }

    /// Sets how many bytes the stored draws and the dense matrices of the algorithm may take, for all chains together.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.plan.memory_limit = bytes;
        self
    }

    /// Sets after how many iterations in a row without a finite log posterior a chain ends. Its draws are kept, and its ending says so.
    ///
    /// A log posterior that is NaN or infinite means that the chain is outside the support of the model, where its draws say nothing
    /// about the posterior. [`Fit::check`](crate::Fit::check) counts such draws whatever the limit. `u64::MAX` lets a chain go on.
    #[must_use]
    pub fn undefined_limit(mut self, iterations: u64) -> Self {
        self.plan.undefined_limit = iterations;
        self
    }

    /// How [`sample`](Self::sample) and [`sample_into`](Self::sample_into) are watched: [`Watch::lines`], or any reporter by
    /// [`Watch::by`]. The search for a mode, and a chain stepped by hand, are not watched.
    #[must_use]
    pub fn progress(mut self, watch: Watch) -> Self {
        self.plan.watch = watch;
        self
    }

    /// The same run with half the step size and twice the iterations per draw and of burn-in, on other randomness: for
    /// [`Fit::step_halving`](crate::Fit::step_halving). Settings of the algorithm that count iterations stay.
    #[must_use]
    pub fn halved(mut self) -> Self {
        self.step_size = self.step_size.map(|schedule| Halved(schedule).into());
        self.plan.thin = self.plan.thin.saturating_mul(2);
        self.plan.burn_in = self.plan.burn_in.saturating_mul(2);
        self.plan.seed = self.plan.seed.wrapping_add(1);
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
    /// gives the same draws, bit for bit, as one that was never interrupted. It may ask for more draws, which makes the run longer; to
    /// ask for fewer than were saved is an error.
    ///
    /// A checkpoint is refused if it is damaged or if anything that the draws depend on has changed: the data, the model, its
    /// parameters, the algorithm, the estimator, the start, the seed, step sizes and temperatures. Models are compared by their recorded
    /// operations or, on the eager engine and for models written by hand, by their values at several points. Schedules given by closures
    /// are compared at the first 1024 iterations and at ever fewer of the later ones. Gibbs updates and closures inside of sinks are
    /// not compared.
    #[must_use]
    pub fn checkpoint(mut self, store: impl CheckpointStore + 'static, every: Every) -> Self {
        self.plan.checkpoints = Some(Checkpoints { store: Arc::new(store), every });
        self
    }
}

impl Plan {
    pub(super) fn check(&self) -> Result<()> {
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
