//! Runs that continue until their draws are good enough.

use std::time::Instant;

use sgmcmc_fit::{ChainOutcome, Fit, Summary};
use sgmcmc_gradient::{GradientEstimator, Result, Target};

use super::Goal;
use crate::dynamics::Dynamics;
use crate::run::{Builder, NoMode, Starts, StopSignal};

/// The largest number of rounds.
const ROUNDS: usize = 12;
/// The number of draws of the first round of a run with a limit of time.
const TRIAL: usize = 50;

/// The lengths of a run in rounds.
#[derive(Clone, Debug)]
pub(super) struct RoundPlan {
    pub(super) goal: Goal,
    /// The number of draws per chain of the first round.
    pub(super) first: usize,
    /// The largest number of draws per chain.
    pub(super) most: usize,
    /// The number of draws per chain below which the run continues although the goal is reached. It makes the cost of
    /// sampling at least that of tuning.
    pub(super) least: usize,
    /// The end of the time budget.
    pub(super) deadline: Option<Instant>,
    pub(super) stop: StopSignal,
}

/// The accuracy of a fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accuracy {
    /// The smallest effective sample size of all values, of bulk and tails.
    pub(super) effective: f64,
    /// The largest R-hat of all values.
    pub(super) r_hat: f64,
}

impl Accuracy {
    pub(super) fn new(summary: &Summary) -> Self {
        // Values that a constraint fixes have no ESS and no R-hat.
        let rows = || summary.rows().iter().filter(|row| row.sd > 0.0);
        let smallest = |size: f64, other: f64| if other.is_nan() { size } else { size.min(other) };
        let effective = rows().flat_map(|row| [row.ess_bulk, row.ess_tail]).fold(f64::INFINITY, smallest);
        Self {
            effective: if effective.is_finite() { effective } else { 0.0 },
            // Several chains are needed to see that chains disagree.
            r_hat: if summary.chains() > 1 { rows().map(|row| row.r_hat).fold(1.0, f64::max) } else { 1.0 },
        }
    }

    pub(super) fn reaches(&self, goal: &Goal) -> bool {
        self.effective >= goal.effective_draws && self.r_hat <= goal.r_hat
    }
}

/// A fit and its accuracy.
pub(super) struct Sampled {
    pub(super) fit: Fit,
    pub(super) accuracy: Accuracy,
}

/// A run whose algorithm is not known.
pub(super) trait SampleFrom<P> {
    /// Makes `draws` draws of every chain, from one start per chain.
    fn sample_from(&self, starts: &[P], draws: usize) -> Result<Fit>;

    /// Returns the number of draws of the longest chain in the store of checkpoints.
    fn saved_draws(&self) -> Result<usize>;
}

impl<T, D, G> SampleFrom<T::Params> for Builder<T, D, G, NoMode>
where
    T: Target,
    G: GradientEstimator + Clone + std::fmt::Debug + 'static,
    D: Dynamics<G> + Clone + std::fmt::Debug + 'static,
{
    fn sample_from(&self, starts: &[T::Params], draws: usize) -> Result<Fit> {
        self.sample(Starts::Each(starts), draws)
    }

    fn saved_draws(&self) -> Result<usize> {
        Builder::saved_draws(self)
    }
}

/// Samples with `run`, which has a store of checkpoints, until the goal of `plan` is reached, the draws are exhausted,
/// or the run is stopped or fails.
pub(super) fn until_good<P>(run: &dyn SampleFrom<P>, starts: &[P], plan: &RoundPlan) -> Result<Sampled> {
    // A run that was interrupted has draws of later rounds. The rounds are repeated with the first draws of the chains, so
    // that the decisions are those of a run without interruption.
    let saved = run.saved_draws()?;
    let planned = plan.first.max(plan.least).clamp(1, plan.most.max(1));
    // With a limit of time the first round is short: it shows the time of a draw.
    let mut draws = if plan.deadline.is_some() { planned.min(TRIAL) } else { planned };
    let mut before = 0;
    let mut round = 0;
    loop {
        round += 1;
        let begin = Instant::now();
        let fit = run.sample_from(starts, draws.max(saved))?;
        let fit = if draws < saved { fit.first(draws) } else { fit };
        let accuracy = Accuracy::new(&fit.summary());
        let complete = fit.outcomes().iter().all(|outcome| matches!(outcome, ChainOutcome::Complete));
        let ended = !complete || plan.stop.is_set() || draws >= plan.most || round == ROUNDS;
        let reached = accuracy.reaches(&plan.goal) && draws >= planned;
        let mut next = ((draws as f64 * growth(&accuracy, &plan.goal)).ceil() as usize).max(planned).min(plan.most);
        if let Some(deadline) = plan.deadline {
            let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
            let per_draw = begin.elapsed().as_secs_f64() / (draws - before) as f64;
            next = next.min(draws + (left / per_draw) as usize);
        }
        if ended || reached || next <= draws {
            return Ok(Sampled { fit, accuracy });
        }
        (before, draws) = (draws, next);
    }
}

/// Returns the factor by which the number of draws grows.
fn growth(accuracy: &Accuracy, goal: &Goal) -> f64 {
    let by_size = 1.15 * goal.effective_draws / accuracy.effective.max(1.0);
    let by_r_hat = if accuracy.r_hat > goal.r_hat { 1.5 } else { 1.0 };
    f64::max(by_size, by_r_hat).clamp(1.25, 3.0)
}
