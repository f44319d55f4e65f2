//! Runs without settings: see [`Auto`].

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use sgmcmc_fit::{Fit, TuningRecord};
use sgmcmc_gradient::{ChainRng, ConditionOn, Error, Result, Target, settings};

use super::decisions::Decisions;
use super::plan::Plan;
use super::sampling::Sampling;
use super::{Goal, Tuned};
use crate::run::{CheckpointInterval, CheckpointStore, Checkpoints, Labels, ProgressOption, StopSignal};

/// A run without settings: finds the mode, the scale, the algorithm, the step size and the minibatch size, and samples
/// until the draws are good enough.
///
/// [`auto`] creates it.
///
/// # Rule
///
/// 1. *Mode*: L-BFGS from the start, and from other starts to detect other modes.
/// 2. *Scale*: a normal approximation of the posterior around the mode, see
///    [`NormalApproximation`](super::NormalApproximation).
/// 3. *Noise*: the gradient noise of control variates in whitened coordinates. Observations are drawn with
///    probabilities in proportion to their influence.
/// 4. *Choice*: the algorithm, the step size and the minibatch size of the smallest cost per effective draw whose bias
///    is accepted, by the laws of linear chains, see
///    [`WhitenedProblem::choose`](super::WhitenedProblem::choose). If the full gradient is affordable, or
///    the likelihood is not a sum over observations, the choice is Hamiltonian Monte Carlo, which has no bias.
/// 5. *Pilot*: short chains whose means and variances are compared with the approximation. If they differ, the
///    approximation is corrected and steps 3 and 4 are repeated.
/// 6. *Sampling* in rounds, until the smallest effective sample size and the largest R-hat reach the [`Goal`].
/// 7. *Verdict*: the bias of the draws is measured with Stein's identities, and compared with the prediction.
///
/// Every decision is a sentence in [`RunInfo::tuning`](sgmcmc_fit::RunInfo::tuning), in the report and in the output of
/// `sgmcmc info`. Problems that the run found are findings of [`Fit::check`].
///
/// The result depends only on the model, the data, the start and the settings: not on the number of threads, and not on
/// the clock unless [`Goal::time`] is set.
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`goal`](Self::goal) | [`Goal::default`] | wanted accuracy, and limits |
/// | [`seed`](Self::seed) | 0 | seed of the random number generators |
/// | [`chains`](Self::chains) | 4 | number of chains |
/// | [`progress`](Self::progress) | off | progress reports of sampling |
/// | [`stop_on`](Self::stop_on) | none | signal that ends the run early |
/// | [`labels`](Self::labels) | none | names of the positions of a parameter |
/// | [`checkpoint`](Self::checkpoint) | none | store of checkpoints; tuning is repeated on resumption, with the same result |
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array((0..1000).map(|i| f64::from(i % 10)).collect(), [1000])?)?;
/// let fit = auto(&model, &data).seed(1).sample(&zeros([1]))?;
/// assert!(fit.check().passed());
/// assert!((fit.summary().rows()[0].mean - 4.5).abs() < 0.02);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Auto<T> {
    pub(super) target: Arc<T>,
    pub(super) goal: Goal,
    pub(super) seed: u64,
    pub(super) chains: usize,
    pub(super) progress: ProgressOption,
    pub(super) stop: StopSignal,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) labels: Vec<Labels>,
}

impl<T> fmt::Debug for Auto<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auto")
            .field("goal", &self.goal)
            .field("seed", &self.seed)
            .field("chains", &self.chains)
            .finish_non_exhaustive()
    }
}

/// Creates a run without settings, see [`Auto`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = auto(&model, &data).sample(&zeros([1]))?;
/// println!("{}", fit.summary());
/// println!("{}", fit.check());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn auto<M: ConditionOn<X>, X>(model: &M, data: &X) -> Auto<M::Target> {
    Auto::new(model.condition_on(data))
}

impl<T: Target> Auto<T> {
    /// Creates a run on `target`.
    pub fn new(target: T) -> Self {
        Self {
            target: Arc::new(target),
            goal: Goal::default(),
            seed: 0,
            chains: 4,
            progress: ProgressOption::Off,
            stop: StopSignal::new(),
            checkpoints: None,
            labels: Vec::new(),
        }
    }

    /// Sets the wanted accuracy and the limits of the run.
    #[must_use]
    pub fn goal(self, goal: Goal) -> Self {
        Self { goal, ..self }
    }

    /// Sets the seed of all random number generators.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of chains.
    #[must_use]
    pub fn chains(self, chains: usize) -> Self {
        Self { chains, ..self }
    }

    /// Sets the progress reports of sampling.
    #[must_use]
    pub fn progress(self, progress: ProgressOption) -> Self {
        Self { progress, ..self }
    }

    /// Sets a signal that ends the run. The draws made so far are kept.
    #[must_use]
    pub fn stop_on(self, signal: &StopSignal) -> Self {
        Self { stop: signal.clone(), ..self }
    }

    /// Labels the positions of the parameter `name`, see [`Builder::labels`](crate::Builder::labels).
    ///
    /// # Examples
    ///
    /// See `Builder::labels`.
    #[must_use]
    pub fn labels<L: Into<String>>(mut self, name: impl Into<String>, labels: impl IntoIterator<Item = L>) -> Self {
        self.labels.push(Labels::new(name, labels));
        self
    }

    /// Sets the store and the interval of checkpoints. A run with the same settings continues from them.
    #[must_use]
    pub fn checkpoint(self, store: impl CheckpointStore + 'static, every: CheckpointInterval) -> Self {
        Self { checkpoints: Some(Checkpoints { store: Arc::new(store), every }), ..self }
    }

    /// Chooses the settings of the run, without sampling from the posterior.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or the model fails at `start`.
    pub fn tune(&self, start: &T::Params) -> Result<Tuned> {
        let begin = Instant::now();
        self.goal.check()?;
        settings::at_least("the number of chains", self.chains, 1, "run at least 1 chain")?;
        // Labels that do not fit are an error before the work.
        Labels::add_all(&self.labels, self.target.evaluator(start)?.layout().clone())?;
        let decide = || {
            let mut decisions = Decisions::new(self, start)?;
            decisions.make()?;
            Ok::<_, Error>(decisions)
        };
        let decisions = self.progress.preparing("choice of the settings", decide)?;
        let Decisions { layout, mode, plan, record, .. } = decisions;
        let record = TuningRecord { seconds: begin.elapsed().as_secs_f64(), ..record };
        Ok(Tuned { layout, mode, plan, record })
    }

    /// Chooses the settings and samples until the goal is reached, like [`sample`](Self::sample), from a start that is drawn
    /// from the prior of the model. `like` has the shapes of the parameters; its values are not used.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`sample`](Self::sample), or if the model cannot draw from its prior.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// #[derive(TensorTree)]
    /// struct Mean {
    ///     #[tree(prior = Normal::new(0.0, 3.0))]
    ///     mean: Tensor<1>,
    /// }
    ///
    /// let model = Model::observe(|p: Mean, _: Tensor<1>| Normal::new(p.mean, 1.0), |y: Tensor<1>| y);
    /// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
    /// let fit = auto(&model, &data).seed(1).sample_from_prior(&Mean { mean: zeros([1]) })?;
    /// assert!(fit.check().passed());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn sample_from_prior(&self, like: &T::Params) -> Result<Fit> {
        let start = self.target.draw_prior(like, &mut ChainRng::before_start(self.seed, 0))?;
        self.sample(&start)
    }

    /// Chooses the settings and samples until the goal is reached.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or the model fails at `start`. A chain that fails later keeps its
    /// draws and has the error as its outcome.
    pub fn sample(&self, start: &T::Params) -> Result<Fit> {
        let begin = Instant::now();
        let tuned = self.tune(start)?;
        let deadline = self.goal.time.map(|time| begin + time);
        let sampling = Sampling { auto: self, start, deadline, record: tuned.record.clone() };
        let fit = match &tuned.plan {
            Plan::StochasticGradient(plan) => sampling.stochastic_gradient(&tuned, plan)?,
            Plan::Hamiltonian(plan) => sampling.hamiltonian(&tuned, plan)?,
            Plan::Search(plan) => sampling.searched(&tuned, plan)?,
        };
        Ok(fit.with_mode(tuned.mode))
    }
}
