//! Runs of DSGLD: see [`Dsgld`].

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use sgmcmc_fit::Fit;
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::{Error as ModelError, GradientEstimator, Target, settings};
use sgmcmc_samplers::StepSize;
use sgmcmc_samplers::dynamics::Dynamics;

use super::approximation::ApproximationShape;
use super::rank::Saved;
use crate::checkpoint::RunCheckpoints;
use crate::collective::{Collective, Result, agree, check_same};

/// Distributed SG-MCMC on shards: each rank has a shard of the data, and as many chains as there are ranks visit the shards.
///
/// A chain makes some steps with minibatches of one shard and then hops to another, which costs a message of the size of its
/// state. In every round of visits, a random permutation assigns the chains to the ranks.
///
/// # Rule
///
/// On shard s the algorithm follows the gradient ∇ log p(θ) + ĝₛ(θ)/fₛ, where ĝₛ estimates the gradient of the likelihood of the
/// shard and fₛ is the share of the steps that chains make there. Shards may have any sizes. Visits to faster ranks are longer by
/// [`speeds`](Self::speeds), so that no rank waits; fₛ accounts for it.
///
/// # Bias
///
/// The gradient is unbiased over all visits, but not during one: between two hops a chain drifts towards the posterior
/// of the shard. If shards differ and visits are long, its draws are spread too far. [`conducive`](Self::conducive) adds the
/// difference of the gradients of an approximation of the whole likelihood and of that of the shard, as in FSGLD, which removes the drift
/// as far as the approximations are exact. They are made once, at a common center, and cost nothing per step in
/// communication.
///
/// # Source
///
/// Ahn, Shahbaba and Welling (2014) for DSGLD; El Mekkaoui, Mesquita, Blomstedt and Kaski (2021), arXiv:2004.11231, for conducive gradients.
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`visit`](Self::visit) | 100 | mean number of steps between two hops |
/// | [`speeds`](Self::speeds) | equal | relative numbers of steps per second of the ranks |
/// | [`conducive`](Self::conducive) | off | conducive gradients around a center |
/// | [`seed`](Self::seed), [`burn_in`](Self::burn_in), [`thin`](Self::thin) | 0, 0, 1 | as in [`Builder`](sgmcmc_samplers::Builder) |
///
/// Estimators with a memory, such as control variates, have one per shard. The draws depend on the seed and on the number of
/// ranks, not on timing.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Sgld;
/// use sgmcmc::distributed::collective::on_threads;
/// use sgmcmc::distributed::dsgld::{ApproximationShape, Dsgld};
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let fits = on_threads(2, |ranks| {
///     let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| (x - mean).square() * -0.5);
///     // Shards with different means.
///     let x: Vec<f32> = (0..20).map(|k| k as f32 / 20.0 + 3.0 * ranks.rank() as f32).collect();
///     let target = model.with(&Dataset::new(array(x, [20])?)?);
///     let gradient = MinibatchGradient::new(WithoutReplacement::new(5));
///     let run = Dsgld::new(ranks, target, Sgld, gradient, 5e-3).visit(50).burn_in(500);
///     let run = run.conducive(vec![1.5], ApproximationShape::Dense);
///     run.sample(&zeros([1]), 2000, None)
/// })?;
/// let means: Vec<f64> = fits.iter().flatten().flat_map(|fit| fit.mean_values()).collect();
/// assert!(means.len() == 1 && (means[0] - 1.975).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dsgld<T, D, G> {
    pub(super) ranks: Arc<dyn Collective>,
    pub(super) target: Arc<T>,
    pub(super) dynamics: D,
    pub(super) gradient: Arc<G>,
    pub(super) step_size: StepSize,
    pub(super) seed: u64,
    pub(super) burn_in: u64,
    pub(super) thin: u64,
    pub(super) visit: u64,
    pub(super) speeds: Option<Vec<f64>>,
    pub(super) conducive: Option<(Vec<f64>, ApproximationShape)>,
}

impl<T, D, G> Dsgld<T, D, G>
where
    T: Target,
    G: GradientEstimator + Debug,
    D: Dynamics<G> + Debug,
{
    /// Creates a run on the shard `target` of this rank.
    pub fn new(
        ranks: Arc<dyn Collective>,
        target: T,
        dynamics: D,
        gradient: G,
        step_size: impl Into<StepSize>,
    ) -> Self {
        let (target, gradient, step_size) = (Arc::new(target), Arc::new(gradient), step_size.into());
        let (seed, burn_in, thin, visit) = (0, 0, 1, 100);
        let (speeds, conducive) = (None, None);
        Self { ranks, target, dynamics, gradient, step_size, seed, burn_in, thin, visit, speeds, conducive }
    }

    /// Sets the seed of all random number generators.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of iterations of each chain before the first draw.
    #[must_use]
    pub fn burn_in(self, iterations: u64) -> Self {
        Self { burn_in: iterations, ..self }
    }

    /// Sets the number of iterations per draw.
    #[must_use]
    pub fn thin(self, iterations: u64) -> Self {
        Self { thin: iterations, ..self }
    }

    /// Sets the mean number of steps between two hops.
    #[must_use]
    pub fn visit(self, steps: u64) -> Self {
        Self { visit: steps, ..self }
    }

    /// Sets the relative speeds of the ranks: visits to a rank have steps in proportion to its speed. They are settings and are not
    /// measured, so that the draws do not depend on timing.
    #[must_use]
    pub fn speeds(self, speeds: Vec<f64>) -> Self {
        Self { speeds: Some(speeds), ..self }
    }

    /// Adds conducive gradients from approximations of the shards around `center`, in coordinates: a point near the mode.
    #[must_use]
    pub fn conducive(self, center: Vec<f64>, shape: ApproximationShape) -> Self {
        Self { conducive: Some((center, shape)), ..self }
    }

    /// Returns a text that identifies everything that the draws depend on, for [`EpochCheckpoints`](crate::checkpoint::EpochCheckpoints). All ranks must call
    /// it.
    ///
    /// # Errors
    ///
    /// Returns the error of the model at `start`.
    pub fn identity(&self, start: &T::Params) -> Result<String> {
        let own = self.own_identity(start);
        let all = self.ranks.all_gather(agree(&*self.ranks, own)?.as_bytes())?;
        let mut hasher = sgmcmc_gradient::fingerprint::Fingerprinter::new();
        all.iter().for_each(|identity| hasher.bytes(identity));
        Ok(format!("{}, shards {}", self.describe(), hasher.finish()))
    }

    fn own_identity(&self, start: &T::Params) -> Result<String> {
        let evaluator = self.target.evaluator(start)?;
        let theta = self.target.flatten(evaluator.layout(), start)?;
        let numbers: Vec<u64> = theta.iter().map(|theta| theta.to_bits()).collect();
        Ok(format!("{:?} {} {numbers:?}", self.target.fingerprint(), evaluator.observations()))
    }

    fn describe(&self) -> String {
        let Self { dynamics, gradient, step_size, seed, burn_in, thin, visit, speeds, conducive, .. } = self;
        format!(
            "{dynamics:?}, {gradient:?}, {step_size:?}, {seed}, {burn_in}, {thin}, {visit}, {speeds:?}, {conducive:?}"
        )
    }

    /// Makes `draws` draws of every chain and gathers them on rank 0. Returns `None` on the other ranks.
    ///
    /// With checkpoints, the run resumes from the last epoch, and its draws are those of a run without interruption, bit for bit.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or differs between the ranks, and an error that names the rank if a chain
    /// fails or diverges there.
    pub fn sample(
        &self,
        start: &T::Params,
        draws: usize,
        mut checkpoints: Option<RunCheckpoints<'_>>,
    ) -> Result<Option<Fit>> {
        let began = Instant::now();
        agree(&*self.ranks, self.check())?;
        check_same(&*self.ranks, "the settings of DSGLD", &self.describe())?;
        let mut rank = self.rank(start)?;
        let interleaved = self.dynamics.interleaved_chains().max(1);
        let draws = draws.div_ceil(interleaved) * interleaved;
        let iterations = self.burn_in + self.thin * draws as u64;
        let rounds = rank.visits.rounds(iterations);
        let mut before = 0.0;
        if let Some(RunCheckpoints { store, .. }) = &mut checkpoints
            && let Some(resumed) = store.resume()?
        {
            let Saved { round, traveler, estimator, seconds } = decode(&resumed.state)?;
            before = seconds;
            (rank.round, rank.traveler) = (round, traveler);
            rank.oracle.restore(estimator);
            rank.segment.extend(&resumed.journal);
        }
        let mut saved = rank.segment.len();
        while rank.round < rounds {
            self.visit_shard(&mut rank)?;
            rank.hop(&*self.ranks)?;
            if let Some(RunCheckpoints { store, every }) = &mut checkpoints
                && (rank.round.is_multiple_of((*every).max(1)) || rank.round == rounds)
            {
                let estimator = rank.oracle.state().clone();
                let seconds = before + began.elapsed().as_secs_f64();
                let state = Saved { round: rank.round, traveler: rank.traveler.clone(), estimator, seconds };
                store.save(&encode(&state)?, rank.segment.since(saved))?;
                saved = rank.segment.len();
            }
        }
        self.gather(&rank, draws, before + began.elapsed().as_secs_f64())
    }

    fn check(&self) -> Result<()> {
        self.dynamics.check()?;
        settings::at_least("thin", self.thin, 1, "take at least 1 iteration per draw")?;
        settings::at_least("the number of steps between two hops", self.visit, 1, "make at least 1 step")?;
        if let Some(speeds) = &self.speeds {
            if speeds.len() != self.ranks.size() {
                let (expected, found) = (self.ranks.size(), speeds.len());
                return Err(ModelError::Length { what: "the list of speeds (one per rank)", expected, found }.into());
            }
            speeds.iter().try_for_each(|speed| settings::positive("the speed of a rank", *speed).map(|_| ()))?;
        }
        Ok(())
    }
}
