//! One rank during a run: its shard, and the chain that visits it.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use sgmcmc_fit::sink::Draw;
use sgmcmc_gradient::estimator::OracleState;
use sgmcmc_gradient::{ChainRng, Error as ModelError, Evaluator, GradientEstimator, Oracle, Target};
use sgmcmc_samplers::dynamics::{Dynamics, HasPosition};
use sgmcmc_samplers::step_size::StepSchedule;

use super::Dsgld;
use super::approximation::ShardApproximation;
use super::evaluator::ShardEvaluator;
use super::hop::Traveler;
use super::schedule::Visits;
use super::segment::Segment;
use crate::collective::{Collective, Error, Result, agree};

/// The saved state of a rank.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "S: Serialize, E: Serialize", deserialize = "S: Deserialize<'de>, E: Deserialize<'de>"))]
pub(super) struct Saved<S, E> {
    pub(super) round: u64,
    pub(super) traveler: Traveler<S>,
    pub(super) estimator: OracleState<E>,
    /// The time of the run so far.
    #[serde(default)]
    pub(super) seconds: f64,
}

/// A rank during a run.
pub(super) struct Rank<D: Dynamics<G>, G: GradientEstimator> {
    pub(super) oracle: Oracle<G>,
    pub(super) schedule: StepSchedule,
    pub(super) visits: Visits,
    pub(super) traveler: Traveler<D::State>,
    pub(super) round: u64,
    pub(super) segment: Segment,
    pub(super) values: Vec<f64>,
    pub(super) stats: Vec<f64>,
}

impl<T, D, G> Dsgld<T, D, G>
where
    T: Target,
    G: GradientEstimator + Debug,
    D: Dynamics<G> + Debug,
{
    /// Creates the shard of this rank and the chain that starts there.
    pub(super) fn rank(&self, start: &T::Params) -> Result<Rank<D, G>> {
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
        let own = checked.and_then(|()| ShardApproximation::from_evaluator(local, center, *shape));
        let own = agree(&*self.ranks, own.map_err(Error::from))?;
        let mut all = own.clone();
        self.ranks.all_reduce_sum(all.numbers_mut())?;
        Ok(Some([own, all]))
    }

    /// Moves the chain on this rank until the end of its visit.
    pub(super) fn visit_shard(&self, rank: &mut Rank<D, G>) -> Result<()> {
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
}

impl<D: Dynamics<G>, G: GradientEstimator> Rank<D, G> {
    /// Exchanges the chain on this rank for that of the next round.
    pub(super) fn hop(&mut self, ranks: &dyn Collective) -> Result<()> {
        let (now, next) = (self.visits.round(self.round), self.visits.round(self.round + 1));
        let to = next.rank(now.chain[ranks.rank()]);
        let from = now.rank(next.chain[ranks.rank()]);
        self.traveler = self.traveler.clone().hop(ranks, to, from)?;
        self.round += 1;
        Ok(())
    }
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
