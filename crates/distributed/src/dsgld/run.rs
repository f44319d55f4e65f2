//! Runs of DSGLD: see [`Dsgld`].

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{Bias, Fit, RunInfo};
use sgmcmc_gradient::estimator::OracleState;
use sgmcmc_gradient::{ChainRng, Error as ModelError, Evaluator, GradientEstimator, Oracle, Target, settings};
use sgmcmc_samplers::StepSize;
use sgmcmc_samplers::dynamics::{Dynamics, HasPosition};
use sgmcmc_samplers::step_size::StepSchedule;

use super::approximation::{ApproximationShape, ShardApproximation};
use super::evaluator::ShardEvaluator;
use super::hop::Traveler;
use super::schedule::Visits;
use super::segment::Segment;
use crate::checkpoint::EpochCheckpoints;
use crate::collective::{Collective, Error, Result, agree, check_same};

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
    ranks: Arc<dyn Collective>,
    target: Arc<T>,
    dynamics: D,
    gradient: Arc<G>,
    step_size: StepSize,
    seed: u64,
    burn_in: u64,
    thin: u64,
    visit: u64,
    speeds: Option<Vec<f64>>,
    conducive: Option<(Vec<f64>, ApproximationShape)>,
}

/// The checkpoints of a run, and the number of rounds of visits between two of them.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc::algorithms::Sgld;
/// use sgmcmc::distributed::checkpoint::EpochCheckpoints;
/// use sgmcmc::distributed::collective::ThreadRank;
/// use sgmcmc::distributed::dsgld::{Dsgld, DsgldCheckpoints};
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
/// use sgmcmc::run::InMemoryCheckpoints;
///
/// let ranks = Arc::new(ThreadRank::alone());
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let run = Dsgld::new(ranks.clone(), model.with(&Dataset::none()), Sgld, FullGradient, 0.1).visit(10);
/// let mut store = EpochCheckpoints::new(InMemoryCheckpoints::default(), ranks, &run.identity(&zeros([1]))?);
/// let fit = run.sample(&zeros([1]), 100, Some(DsgldCheckpoints { store: &mut store, every: 2 }))?;
/// assert!(fit.is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct DsgldCheckpoints<'a> {
    /// The store.
    pub store: &'a mut EpochCheckpoints,
    /// The number of rounds between two checkpoints.
    pub every: u64,
}

/// The saved state of a rank.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "S: Serialize, E: Serialize", deserialize = "S: Deserialize<'de>, E: Deserialize<'de>"))]
struct Saved<S, E> {
    round: u64,
    traveler: Traveler<S>,
    estimator: OracleState<E>,
}

/// A rank during a run.
struct Rank<D: Dynamics<G>, G: GradientEstimator> {
    oracle: Oracle<G>,
    schedule: StepSchedule,
    visits: Visits,
    traveler: Traveler<D::State>,
    round: u64,
    segment: Segment,
    values: Vec<f64>,
    stats: Vec<f64>,
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

    /// Returns a text that identifies everything that the draws depend on, for [`EpochCheckpoints`]. All ranks must call
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
        mut checkpoints: Option<DsgldCheckpoints<'_>>,
    ) -> Result<Option<Fit>> {
        let began = Instant::now();
        agree(&*self.ranks, self.check())?;
        check_same(&*self.ranks, "the settings of DSGLD", &self.describe())?;
        let mut rank = self.rank(start)?;
        let interleaved = self.dynamics.interleaved_chains().max(1);
        let draws = draws.div_ceil(interleaved) * interleaved;
        let iterations = self.burn_in + self.thin * draws as u64;
        let rounds = rounds(&rank.visits, iterations);
        if let Some(DsgldCheckpoints { store, .. }) = &mut checkpoints
            && let Some(resumed) = store.resume()?
        {
            let Saved { round, traveler, estimator } = decode(&resumed.state)?;
            (rank.round, rank.traveler) = (round, traveler);
            rank.oracle.restore(estimator);
            rank.segment.extend(&resumed.journal);
        }
        let mut saved = rank.segment.len();
        while rank.round < rounds {
            self.visit_shard(&mut rank)?;
            rank.hop(&*self.ranks)?;
            if let Some(DsgldCheckpoints { store, every }) = &mut checkpoints
                && (rank.round.is_multiple_of((*every).max(1)) || rank.round == rounds)
            {
                let estimator = rank.oracle.state().clone();
                let state = Saved { round: rank.round, traveler: rank.traveler.clone(), estimator };
                store.save(&encode(&state)?, rank.segment.since(saved))?;
                saved = rank.segment.len();
            }
        }
        self.gather(&rank, draws, began)
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

    /// Creates the shard of this rank and the chain that starts there.
    fn rank(&self, start: &T::Params) -> Result<Rank<D, G>> {
        let speeds = self.speeds.clone().unwrap_or_else(|| vec![1.0; self.ranks.size()]);
        let visits = Visits::new(self.seed, self.visit, &speeds);
        let share = visits.share(self.ranks.rank());
        let mut local = agree(&*self.ranks, self.target.evaluator(start).map_err(Error::from))?;
        let conducive = self.approximations(local.as_mut())?;
        let mut evaluator = ShardEvaluator::new(local, share);
        if let Some([shard, all]) = conducive {
            evaluator = evaluator.with_conducive_gradient(shard, all);
        }
        agree(&*self.ranks, self.first_state(start, evaluator, visits))
    }

    /// Creates the chain that starts on this rank.
    fn first_state(&self, start: &T::Params, evaluator: ShardEvaluator, visits: Visits) -> Result<Rank<D, G>> {
        let layout = evaluator.layout().clone();
        let theta = self.target.flatten(&layout, start)?;
        let chain = visits.round(0).chain[self.ranks.rank()];
        let rng = ChainRng::new(self.seed, chain as u64);
        let mut oracle = Oracle::shared(self.gradient.clone(), Box::new(evaluator), &theta, rng)?;
        let mut schedule = self.step_size.resolve(&layout, &1.0.into())?;
        let state = self.dynamics.init(&theta, schedule.context(0)?, &mut oracle)?;
        let OracleState { rng, estimates, .. } = oracle.state().clone();
        let traveler = Traveler { chain, state, rng, iteration: 0, gradients: estimates };
        let stats = self.dynamics.stat_names(&layout).len();
        let segment = Segment::new(stats, layout.value_count());
        let (values, stats) = (vec![0.0; layout.value_count()], vec![0.0; stats]);
        Ok(Rank { oracle, schedule, visits, traveler, round: 0, segment, values, stats })
    }

    /// Returns the approximations of the shard of this rank and of all shards together.
    fn approximations(&self, local: &mut dyn Evaluator) -> Result<Option<[ShardApproximation; 2]>> {
        let Some((center, shape)) = &self.conducive else { return Ok(None) };
        let checked = local.layout().check_length(center);
        let own = checked.and_then(|()| ShardApproximation::at(local, center, *shape));
        let own = agree(&*self.ranks, own.map_err(Error::from))?;
        let mut all = own.clone();
        self.ranks.all_reduce_sum(all.numbers_mut())?;
        Ok(Some([own, all]))
    }

    /// Moves the chain on this rank until the end of its visit.
    fn visit_shard(&self, rank: &mut Rank<D, G>) -> Result<()> {
        let Rank { oracle, schedule, visits, traveler, segment, values, stats, .. } = rank;
        let interleaved = self.dynamics.interleaved_chains().max(1) as u64;
        let state = OracleState { rng: traveler.rng.clone(), estimates: traveler.gradients, ..oracle.state().clone() };
        oracle.restore(state);
        for _ in 0..visits.steps[self.ranks.rank()] {
            let context = schedule.context(traveler.iteration)?;
            let h = context.h;
            let log_posterior = self.dynamics.step(&mut traveler.state, context, oracle)?;
            traveler.iteration += 1;
            let (t, position) = (traveler.iteration, traveler.state.position());
            check_finite(position, oracle, traveler.chain, t)?;
            let after = t.saturating_sub(self.burn_in);
            if after > 0
                && after.div_ceil(interleaved).is_multiple_of(self.thin)
                && self.dynamics.keeps_draw(&traveler.state)
            {
                self.dynamics.stats(&traveler.state, stats);
                oracle.layout().values_into(position, values)?;
                let weight = h * self.dynamics.step_factor(&traveler.state);
                let chain = traveler.chain * interleaved as usize + ((t - 1) % interleaved) as usize;
                segment.push(chain, &Draw { iteration: t, values, weight, log_posterior, stats });
            }
        }
        traveler.rng = oracle.state().rng.clone();
        traveler.gradients = oracle.state().estimates;
        Ok(())
    }

    /// Gathers the draws of all ranks on rank 0.
    fn gather(&self, rank: &Rank<D, G>, draws: usize, began: Instant) -> Result<Option<Fit>> {
        let counts = [rank.traveler.chain as f64, rank.traveler.iteration as f64, rank.traveler.gradients as f64];
        let seconds = began.elapsed().as_secs_f64();
        let counts = self.ranks.gather(0, bytemuck::cast_slice(&counts))?;
        let observations = {
            let mut total = [rank.oracle.observations() as f64];
            self.ranks.all_reduce_sum(&mut total)?;
            total[0] as usize
        };
        let communication = self.ranks.communication_of_all()?;
        let parts = self.ranks.gather(0, rank.segment.since(0))?;
        let (Some(counts), Some(parts)) = (counts, parts) else { return Ok(None) };
        let layout = rank.oracle.layout().clone();
        let stats = self.dynamics.stat_names(&layout);
        let interleaved = self.dynamics.interleaved_chains().max(1);
        let chains = self.ranks.size() * interleaved;
        let mut all = Segment::new(stats.len(), layout.value_count());
        parts.iter().for_each(|part| all.extend(part));
        let recorded = all.chains(chains, draws / interleaved, &layout, &stats)?;
        let mut cost = vec![[0; 2]; self.ranks.size()];
        for counts in counts.iter().map(|bytes| crate::collective::numbers(bytes)) {
            if let [chain, iterations, gradients] = counts[..] {
                cost[chain as usize] = [iterations as u64, gradients as u64];
            }
        }
        let of_chains = |which: usize| -> Vec<u64> {
            cost.iter().flat_map(|cost| vec![cost[which] / interleaved as u64; interleaved]).collect()
        };
        let minibatch = rank.oracle.state().batch.rows.len();
        let info = RunInfo {
            algorithm: format!("{:?}", self.dynamics),
            gradient: format!("{:?}", self.gradient),
            step_size: format!("{:?} at temperature 1", self.step_size),
            observations,
            minibatch: (minibatch > 0).then_some(minibatch as f64),
            seed: self.seed,
            burn_in: self.burn_in,
            thin: self.thin,
            interleaved,
            iterations: of_chains(0),
            gradients: of_chains(1),
            undefined: vec![0; chains],
            seconds: vec![seconds / interleaved as f64; chains],
            bias: Bias::NotExamined("the bias of chains that visit shards is not predicted".into()),
            communication: (self.ranks.size() > 1).then_some(communication),
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        Ok(Some(Fit::new(layout, recorded)?.with_info(info)))
    }
}

impl<D: Dynamics<G>, G: GradientEstimator> Rank<D, G> {
    /// Exchanges the chain on this rank for that of the next round.
    fn hop(&mut self, ranks: &dyn Collective) -> Result<()> {
        let (now, next) = (self.visits.round(self.round), self.visits.round(self.round + 1));
        let to = next.rank(now.chain[ranks.rank()]);
        let from = now.rank(next.chain[ranks.rank()]);
        self.traveler = self.traveler.clone().hop(ranks, to, from)?;
        self.round += 1;
        Ok(())
    }
}

/// Returns the number of rounds after which every chain has made `iterations` iterations.
fn rounds(visits: &Visits, iterations: u64) -> u64 {
    let mut done = vec![0; visits.steps.len()];
    let mut round = 0;
    while done.iter().any(|done| *done < iterations) {
        visits.round(round).chain.iter().zip(&visits.steps).for_each(|(chain, steps)| done[*chain] += steps);
        round += 1;
    }
    round
}

/// Returns an error that names the chain if a coordinate is no longer finite.
fn check_finite<G: GradientEstimator>(theta: &[f64], oracle: &Oracle<G>, chain: usize, t: u64) -> Result<()> {
    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true of NaN too, by one comparison")]
    let found = theta.iter().position(|theta| !(theta.abs() <= 1e100));
    let Some(index) = found else { return Ok(()) };
    let element = format!("{} of chain {chain}", oracle.layout().coordinate_name(index));
    let (what, remedy) = ("the value", "use a smaller step size");
    Err(ModelError::Diverged { what, element, value: theta[index], iteration: t, remedy }.into())
}
