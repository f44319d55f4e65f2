//! The builder of runs: see [`Builder`].

use std::ops::Range;
use std::sync::Arc;

use sgmcmc_gradient::minibatch::IntoScheme;
use sgmcmc_gradient::{ModeFinder, Result, Target};

use super::checkpoint::{CheckpointInterval, CheckpointStore, Checkpoints};
use super::plan::{Labels, Plan};
use super::progress::ProgressOption;
use super::stop::StopSignal;
use super::{FindMode, Minibatched, NoMode};
use crate::compose::{GibbsStep, GibbsUpdate, Update, UpdateFactory};
use crate::schedule::{Halved, SharedSchedule};
use crate::step_size::StepSize;
use crate::threshold::SamplingThreshold;

/// A run: the target, the algorithm, the gradient estimator, the step size, and the settings of the chains.
///
/// [`new`](Self::new) and the [presets](crate::presets) create a run. [`sample`](Self::sample) runs all chains and
/// keeps the draws in memory, [`sample_into`](Self::sample_into) passes them to sinks, and [`start`](Self::start)
/// creates a chain that is stepped by hand.
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`minibatch`](Self::minibatch) | 1 % | observations per gradient: a count, a proportion, or a scheme |
/// | [`temperature`](Self::temperature) | 1 | temperature T of the target p(θ\|x)^{1/T}; a number or a schedule |
/// | [`seed`](Self::seed) | 0 | seed of the random number generators |
/// | [`chains`](Self::chains) | 1 | number of chains, run in parallel |
/// | [`burn_in`](Self::burn_in) | 0 | number of iterations before the first draw |
/// | [`thin`](Self::thin) | 1 | number of iterations per draw |
/// | [`jitter`](Self::jitter) | 10 | distance of chains with a common start, in standard deviations of the noise of one step |
/// | [`memory_limit`](Self::memory_limit) | 4 GiB | largest size of the stored draws, in bytes |
/// | [`non_finite_limit`](Self::non_finite_limit) | 100 | number of consecutive iterations without a finite log posterior that end a chain |
/// | [`find_mode`](Self::find_mode) | only with control variates | search for the posterior mode, and start there |
/// | [`gibbs`](Self::gibbs), [`update`](Self::update) | none | updates of some parameters or latent variables after every step, in this order |
/// | [`hold`](Self::hold) | none | parameters that the dynamics do not move |
/// | [`labels`](Self::labels) | none | names of the positions of a parameter |
/// | [`sampling_threshold`](Self::sampling_threshold) | none | sampling threshold from which draws are kept |
/// | [`progress`](Self::progress) | off | progress reports |
/// | [`stop_on`](Self::stop_on) | none | signal that ends chains early |
/// | [`checkpoint`](Self::checkpoint) | none | store and interval of checkpoints |
///
/// # Examples
///
/// A logistic regression with two chains of SGLD:
///
/// ```
/// use sgmcmc::algorithms::Sgld;
/// use sgmcmc::distributions::*;
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::{Moments, SecondMoments};
///
/// #[derive(TensorTree)]
/// struct Weights {
///     bias: Tensor<1>,
///     beta: Tensor<1>,
/// }
///
/// #[derive(TensorTree)]
/// struct Observations {
///     x: Tensor<2>,
///     y: Tensor<1>,
/// }
///
/// let model = Model::new(|w: Weights, o: Observations| {
///     let logits = o.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
///     BernoulliLogits::new(logits).log_prob(o.y)
/// })
/// .prior(|w: Weights| Normal::new(0.0, 1.0).log_prob(w.beta).sum() + Normal::new(0.0, 1.0).log_prob(w.bias).sum());
/// let x = array(vec![0.5, 1.0, -1.0, 2.0, 0.0, 3.0, 1.0, 1.0], [4, 2])?;
/// let data = Dataset::new(Observations { x, y: array(vec![1.0, 0.0, 1.0, 1.0], [4])? })?;
/// let start = Weights { bias: zeros([1]), beta: zeros([2]) };
///
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(2));
/// let run = Builder::new(model.with(&data), Sgld, gradient, 1e-2)
///     .seed(13)
///     .chains(2)
///     .burn_in(100)
///     .thin(2);
///
/// // All draws in memory.
/// let fit = run.sample(&start, 250)?;
/// assert_eq!(fit.chains().len(), 2);
/// assert_eq!(fit.summary().rows().len(), 3);
///
/// // Only moments: one sink per chain, and the outcome of each chain.
/// let outputs = run.sample_into(&start, 250, |_chain| Moments::new(SecondMoments::Variances))?;
/// assert_eq!(outputs.len(), 2);
///
/// // Step by step.
/// let mut sampler = run.start(&start)?;
/// sampler.step()?;
/// assert_eq!(sampler.position().len(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder<T, D, G, M = NoMode> {
    pub(super) target: Arc<T>,
    pub(super) dynamics: D,
    pub(super) gradient: G,
    pub(super) mode: M,
    pub(super) step_size: StepSize,
    pub(super) temperature: SharedSchedule,
    pub(super) plan: Plan,
}

impl<T: Target, D, G> Builder<T, D, G> {
    /// Creates a run of the algorithm `dynamics` with the gradient estimator `gradient` and the step size `step_size`.
    pub fn new(target: T, dynamics: D, gradient: G, step_size: impl Into<StepSize>) -> Self {
        let (step_size, temperature) = (step_size.into(), 1.0.into());
        Self {
            target: Arc::new(target),
            dynamics,
            gradient,
            mode: NoMode,
            step_size,
            temperature,
            plan: Plan::default(),
        }
    }
}

impl<T, D, G, M> Builder<T, D, G, M> {
    /// Sets the algorithm.
    #[must_use]
    pub fn dynamics<E>(self, dynamics: E) -> Builder<T, E, G, M> {
        let Self { target, gradient, mode, step_size, temperature, plan, .. } = self;
        Builder { target, dynamics, gradient, mode, step_size, temperature, plan }
    }

    /// Sets the gradient estimator.
    #[must_use]
    pub fn gradient<H>(self, gradient: H) -> Builder<T, D, H, M> {
        let Self { target, dynamics, mode, step_size, temperature, plan, .. } = self;
        Builder { target, dynamics, gradient, mode, step_size, temperature, plan }
    }

    /// Searches for the posterior mode with `search` before the run, from the start of the first chain. The mode
    /// becomes the center of control variates.
    ///
    /// [`LbfgsSearch`](sgmcmc_gradient::LbfgsSearch) uses all observations. [`ModeSearch`](sgmcmc_gradient::ModeSearch)
    /// uses variance-reduced minibatches, or all observations if the estimator has no minibatches.
    /// [`AutoSearch`](sgmcmc_gradient::AutoSearch) chooses the cheaper of the two.
    ///
    /// With one start for all chains, they begin at the mode, [`jitter`](Self::jitter) apart. With one start per chain
    /// ([`Starts::Each`](super::Starts), [`Starts::drawn`](super::Starts::drawn)) they begin at their starts.
    #[must_use]
    pub fn find_mode<F: ModeFinder>(self, search: F) -> Builder<T, D, G, FindMode<F>> {
        let Self { target, dynamics, gradient, step_size, temperature, plan, .. } = self;
        Builder { target, dynamics, gradient, mode: FindMode(search), step_size, temperature, plan }
    }

    /// Sets the minibatch scheme: an integer is a count, a float a proportion, both without replacement, or any
    /// [`Scheme`](sgmcmc_gradient::minibatch::Scheme).
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
    /// The values of the parameters are sampled from p(θ|x)^{1/T}, prior and likelihood alike. The Jacobian of
    /// constraints is not tempered, so that this holds for constrained parameters too. On a model with its own
    /// temperature (`Model::temperature`) the two multiply. A Gibbs update must itself draw from the conditional
    /// distributions of p(θ|x)^{1/T}.
    ///
    /// At T = 0 there is no noise, and the chain ascends to a mode of p(θ|x) as a density of the values. This is the
    /// limit of p(θ|x)^{1/T} as T decreases. It is not the mode of [`find_mode`](Self::find_mode), which is that of the
    /// density of the coordinates, Jacobian included. If the mode of a density is on the boundary of a constraint, as
    /// for the exponential distribution, its coordinates are infinite and the chain diverges. Metropolis algorithms
    /// need T > 0.
    #[must_use]
    pub fn temperature(self, temperature: impl Into<SharedSchedule>) -> Self {
        Self { temperature: temperature.into(), ..self }
    }

    /// Sets the seed of all random number generators. The same seed gives the same draws for every number of threads.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// Sets the number of chains, which run in parallel. An algorithm with M interleaved chains is recorded as M chains
    /// for each of these, see [`sample`](Self::sample).
    #[must_use]
    pub fn chains(mut self, chains: usize) -> Self {
        self.plan.chains = chains;
        self
    }

    /// Runs only the chains with these indices, of all [`chains`](Self::chains). Other processes run the rest.
    ///
    /// The draws of a chain depend on the seed and on its index, not on the range, so that the chains of several
    /// processes together are those of one.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
    /// let run = ula(&model, &Dataset::none(), 0.1).chains(4);
    /// let all = run.sample(&zeros([1]), 10)?;
    /// let last = run.chain_range(2..4).sample(&zeros([1]), 10)?;
    /// assert_eq!(all.chains()[2..], *last.chains());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
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

    /// Sets the number of iterations per draw. An algorithm with M interleaved chains keeps every k-th round of M
    /// iterations, k = `iterations`, and so every k-th draw of each of its chains.
    #[must_use]
    pub fn thin(mut self, iterations: u64) -> Self {
        self.plan.thin = iterations;
        self
    }

    /// Sets the distance of chains with a common start: each is moved by `jitter` √h F z, where z is standard normal, h
    /// the first step size and M = F Fᵀ the matrix of the algorithm. This is `jitter` standard deviations of the noise
    /// of the first step.
    #[must_use]
    pub fn jitter(mut self, jitter: f64) -> Self {
        self.plan.jitter = jitter;
        self
    }

    /// Sets the largest size in bytes of the stored draws and of the dense matrices of the algorithm, each for all
    /// chains together.
    #[must_use]
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.plan.memory_limit = bytes;
        self
    }

    /// Sets the number of consecutive iterations without a finite log posterior after which a chain ends. Its draws are
    /// kept, and its outcome is an error.
    ///
    /// A log posterior that is NaN or infinite means that the chain is outside the support of the model, where its
    /// draws do not represent the posterior. [`Fit::check`](sgmcmc_fit::Fit::check) counts such draws at every limit.
    /// `u64::MAX` disables the limit.
    #[must_use]
    pub fn non_finite_limit(mut self, iterations: u64) -> Self {
        self.plan.non_finite_limit = iterations;
        self
    }

    /// Sets the progress reports of [`sample`](Self::sample) and [`sample_into`](Self::sample_into):
    /// [`ProgressOption::lines`], or any reporter with [`ProgressOption::by`]. A mode search is reported as a stage before the
    /// chains. Chains stepped by hand make no reports.
    ///
    /// With more chains than threads, the chains take turns, so that a run that is stopped at any moment has about as
    /// many draws of each.
    #[must_use]
    pub fn progress(mut self, progress: ProgressOption) -> Self {
        self.plan.progress = progress;
        self
    }

    /// Returns this run with half the step size, twice the iterations per draw and of burn-in, and another seed, for
    /// [`Fit::step_halving`](sgmcmc_fit::Fit::step_halving). Settings of the algorithm that count iterations are not
    /// changed.
    #[must_use]
    pub fn halve_step_size(mut self) -> Self {
        self.step_size = self.step_size.map(|schedule| Halved(schedule).into());
        self.plan.thin = self.plan.thin.saturating_mul(2);
        self.plan.burn_in = self.plan.burn_in.saturating_mul(2);
        self.plan.seed = self.plan.seed.wrapping_add(1);
        self
    }

    /// Sets a signal that stops the chains. Their draws are kept.
    #[must_use]
    pub fn stop_on(mut self, signal: &StopSignal) -> Self {
        self.plan.stop = signal.clone();
        self
    }

    /// Sets the sampling threshold of Welling & Teh. After the burn-in, draws are kept once the threshold is reached.
    /// αₜ is recorded with each draw.
    #[must_use]
    pub fn sampling_threshold(mut self, threshold: SamplingThreshold) -> Self {
        self.plan.threshold = Some(threshold);
        self
    }

    /// Adds a Gibbs update, which draws some parameters given all others. `make` creates the update of each chain from
    /// the index of the chain. See [`update`](Self::update) for the order of updates.
    #[must_use]
    pub fn gibbs<U: GibbsUpdate + 'static>(self, make: impl Fn(usize) -> U + Send + Sync + 'static) -> Self {
        self.update(move |chain| GibbsStep::new(make(chain)))
    }

    /// Adds an update of some parameters or latent variables. Each iteration is a step of the dynamics followed by all
    /// updates, in the order in which they were added. `make` creates the update of each chain from the index of the
    /// chain. Each of M interleaved chains has its own update, see [`sample`](Self::sample).
    #[must_use]
    pub fn update<U: Update + 'static>(mut self, make: impl Fn(usize) -> U + Send + Sync + 'static) -> Self {
        self.plan.updates.push(UpdateFactory::new(make));
        self
    }

    /// Exempts the parameter `name` from the dynamics. Only [updates](Self::update) move it.
    ///
    /// Gradients are estimated with all parameters, so that they stay unbiased when an update changes a held one, with
    /// every estimator. A [mode search](Self::find_mode) moves held parameters too, and chains with a common start begin
    /// at the mode; [`jitter`](Self::jitter) leaves them alone.
    #[must_use]
    pub fn hold(mut self, name: impl Into<String>) -> Self {
        self.plan.held.push(name.into());
        self
    }

    /// Labels the positions of the parameter `name`, which has one dimension. The labels stand in the fit, in files to
    /// which draws are streamed, and in checkpoints, where `sgmcmc watch` shows them.
    ///
    /// Labels are not part of the identity of a run: a checkpoint is resumed with other labels, too. A parameter that does
    /// not exist, or has another number of values, is an error of [`sample`](Self::sample).
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let run = ula(&model, &Dataset::none(), 0.1).labels("theta", ["age", "income"]);
    /// assert_eq!(run.sample(&zeros([2]), 50)?.layout().value_names(), ["theta[age]", "theta[income]"]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn labels<L: Into<String>>(mut self, name: impl Into<String>, labels: impl IntoIterator<Item = L>) -> Self {
        self.plan.labels.push(Labels::new(name, labels));
        self
    }

    /// Sets the store and the interval of checkpoints.
    ///
    /// A run of the same settings with the same store resumes from the last checkpoint. Its draws are bit for bit those
    /// of a run without interruption. It may have more draws than the saved run. Fewer draws than were saved are an
    /// error.
    ///
    /// A checkpoint is an error if it is damaged or if anything that the draws depend on has changed: the data, the
    /// model, its parameters, the algorithm, the estimator, the start, the seed, step sizes and temperatures. Models
    /// are compared by their recorded operations or, on the eager engine and for hand-written models, by their values
    /// at several points. Schedules given by closures are compared at the first 1024 iterations and at increasing
    /// distances after them, metrics by their values at several points, updates by their settings. Closures of updates
    /// and in sinks are not compared.
    ///
    /// See [`CheckpointInterval`] for an example.
    #[must_use]
    pub fn checkpoint(mut self, store: impl CheckpointStore + 'static, every: CheckpointInterval) -> Self {
        self.plan.checkpoints = Some(Checkpoints { store: Arc::new(store), every });
        self
    }
}

impl<T, D, G, M> Builder<T, D, G, M> {
    /// Returns the number of draws of the longest chain in the store of checkpoints, or zero without a store.
    ///
    /// # Errors
    ///
    /// Returns an error if a checkpoint cannot be read or is damaged.
    pub(crate) fn saved_draws(&self) -> Result<usize> {
        let Some(checkpoints) = &self.plan.checkpoints else { return Ok(0) };
        self.plan.chain_indices().try_fold(0, |most, chain| Ok(checkpoints.saved_draws(chain)?.max(most)))
    }
}
