//! Successive halving: see [`SuccessiveHalving`].

mod arm;
mod score;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::Bound;

use rayon::prelude::*;
use sgmcmc_gradient::{Error, Result, settings};

use self::arm::Arm;
use self::score::Sample;
pub use self::score::SteinScorer;
use crate::chain::GradientChain;

/// A search for the best of several settings of a sampler, by successive halving within a budget of gradients.
///
/// Each setting is an *arm*. An arm may be any chain on the same posterior: another step size, minibatch size, gradient
/// estimator or algorithm.
///
/// # Rule
///
/// In each round every arm that is left gets the same share of the budget and continues from its last state. Then all are
/// scored, and the best `keep` of them go on, until one is left. All rounds have about the same budget, so that the share
/// of an arm grows by 1/`keep` from round to round.
///
/// **Score.** The kernel Stein discrepancy of [`SteinScorer`], as a U-statistic: an estimate of the squared discrepancy of
/// the draws from the posterior that is zero on average for independent draws from it. It needs no reference, and sees
/// both the bias of large steps and the slow exploration of small ones.
///
/// **Draws.** All arms of a round are scored on the same number of draws, because the discrepancy depends on it: `draws`, or
/// fewer if an arm has fewer. They are taken at even distances from the second half of all draws that the arm has made,
/// with their weights. An arm that cannot make a quarter of `draws` is eliminated.
///
/// **Cost.** The unit is the gradient of one observation. A step costs the number of its gradient estimates times the
/// minibatch size, or times N without minibatches. The gradients of the scores are part of the budget. Passes over the data
/// that an estimator makes by itself, such as those of SVRG, are not counted by [`Chain::cost`](crate::chain::Chain::cost).
///
/// An arm that fails has the score ∞, and its error is kept. The result does not depend on the number of threads. Of equal
/// scores the arm with the smaller index is better.
///
/// # Source
///
/// Coullon, South & Nemeth, "Efficient and generalizable tuning strategies for stochastic gradient MCMC" (Statistics and
/// Computing 33:66, 2023). It differs from their code in these points: the budget is not counted in seconds; all arms are
/// scored on the same number of draws; the kernel is preconditioned; and the scores are paid from the budget.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `keep` | 1/3 | share of the arms that go on to the next round, at least one | (0, 1) |
/// | `draws` | 200 | number of draws that are scored per arm | ≥ 4 |
/// | `budget` | 10⁷ | gradients of single observations of the search | ≥ 1 |
///
/// Each arm stores at most 4 `draws` positions.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{ChainSpec, GradientChain, Sgld};
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::ChainRng;
/// use sgmcmc::tuning::{SteinScorer, SuccessiveHalving};
/// use std::sync::Arc;
///
/// let posterior = Model::density(|x: Tensor<1>| x.square().sum() * -0.5).with(&Dataset::none());
/// let step_sizes = [1e-6, 0.3, 100.0];
/// let start_arm = |arm: usize| {
///     let (dynamics, gradient) = (Arc::new(Sgld), Arc::new(FullGradient));
///     let spec = ChainSpec { dynamics, gradient, step_size: step_sizes[arm].into(), temperature: 1.0.into() };
///     let chain = spec.start(posterior.evaluator(&zeros([2]))?, &[0.1, 0.1], ChainRng::new(1, arm as u64))?;
///     Ok(Box::new(chain) as Box<dyn GradientChain>)
/// };
/// let search = SuccessiveHalving { budget: 10_000, ..SuccessiveHalving::default() };
/// let result = search.run(3, start_arm, &SteinScorer::default())?;
/// assert_eq!(result.winner(), Some(1));
/// // The arm with the largest step size diverged.
/// assert!(result.ranking[2].error.is_some());
/// assert!(result.cost <= 10_000);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuccessiveHalving {
    /// The share of the arms that go on to the next round.
    pub keep: f64,
    /// The number of draws that are scored per arm.
    pub draws: usize,
    /// The number of gradients of single observations of the search.
    pub budget: u64,
}

impl Default for SuccessiveHalving {
    fn default() -> Self {
        Self { keep: 1.0 / 3.0, draws: 200, budget: 10_000_000 }
    }
}

/// The result of a search by [`SuccessiveHalving`].
///
/// # Examples
///
/// See [`SuccessiveHalving`].
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// All arms, the best first: arms without an error before the others, later rounds before earlier ones, and lower
    /// scores before higher ones.
    pub ranking: Vec<ArmResult>,
    /// The number of rounds.
    pub rounds: usize,
    /// The number of gradients of single observations of all arms.
    pub cost: u64,
}

impl SearchResult {
    /// Returns the index of the best arm, or `None` if all arms failed.
    pub fn winner(&self) -> Option<usize> {
        self.ranking.first().filter(|best| best.score.is_finite()).map(|best| best.arm)
    }
}

/// The result of one arm of a search.
///
/// # Examples
///
/// See [`SuccessiveHalving`].
#[derive(Clone, Debug, PartialEq)]
pub struct ArmResult {
    /// The index of the arm.
    pub arm: usize,
    /// The squared kernel Stein discrepancy in the last round of the arm: a U-statistic, which may be negative, and ∞ if
    /// the arm failed or made too few draws.
    pub score: f64,
    /// The last round of the arm, from 1.
    pub round: usize,
    /// The number of draws that were scored in that round.
    pub draws: usize,
    /// The number of gradients of single observations of the arm, including those of its scores.
    pub cost: u64,
    /// The last position of the chain, in coordinates. It is empty if the chain did not start.
    pub position: Vec<f64>,
    /// A sentence that says why the arm was eliminated; `None` for the arm that won the last round.
    pub elimination: Option<String>,
    /// The error of the chain or of its scores.
    pub error: Option<Error>,
}

impl ArmResult {
    /// Compares two results: the better one is less.
    fn order(&self, other: &Self) -> Ordering {
        let failed = |result: &Self| !result.score.is_finite();
        failed(self)
            .cmp(&failed(other))
            .then(other.round.cmp(&self.round))
            .then(self.score.total_cmp(&other.score))
            .then(self.arm.cmp(&other.arm))
    }
}

impl SuccessiveHalving {
    /// Searches for the best of `arms` arms. `make` starts the chain of an arm, from its index, on any thread.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, if there are no arms, or if the budget is too small to score them.
    /// Errors of chains are part of the result.
    pub fn run<M>(&self, arms: usize, make: M, scorer: &SteinScorer) -> Result<SearchResult>
    where
        M: Fn(usize) -> Result<Box<dyn GradientChain>> + Sync,
    {
        self.check(arms, scorer)?;
        let start = |index: usize| Arm::new(index, make(index), self.draws);
        let mut playing: Vec<Arm> = (0..arms).into_par_iter().map(start).collect();
        let mut ranking: Vec<ArmResult> = Vec::with_capacity(arms);
        let mut round = 0;
        while !playing.is_empty() {
            round += 1;
            let spent = cost(&ranking, &playing);
            let allowance = self.budget.saturating_sub(spent) / self.rounds(playing.len());
            self.play(&mut playing, allowance, scorer)?;
            let kept = self.kept(playing.len());
            let mut results: Vec<ArmResult> = playing.iter().map(|arm| arm.result(round)).collect();
            results.sort_by(ArmResult::order);
            let going_on = results.iter().take(kept).filter(|result| result.score.is_finite()).count();
            let survivors: Vec<usize> = results[..going_on].iter().map(|result| result.arm).collect();
            for (rank, result) in results.iter_mut().enumerate().skip(going_on) {
                result.elimination = Some(self.reason(result, rank + 1, playing.len(), going_on));
            }
            // The last survivor needs no further round.
            let first = if going_on > 1 { going_on } else { 0 };
            ranking.extend(results.drain(first..));
            playing.retain(|arm| going_on > 1 && survivors.contains(&arm.index));
        }
        ranking.sort_by(ArmResult::order);
        let cost = cost(&ranking, &[]);
        Ok(SearchResult { ranking, rounds: round, cost })
    }

    /// Checks the settings.
    fn check(&self, arms: usize, scorer: &SteinScorer) -> Result<()> {
        settings::at_least("the number of arms", arms, 1, "there must be at least 1")?;
        let open = (Bound::Excluded(0.0), Bound::Excluded(1.0));
        settings::within("the share of arms that are kept", self.keep, open, "it must be above 0 and below 1")?;
        settings::at_least("the number of scored draws", self.draws, 4, "it must be at least 4")?;
        settings::at_least("the budget of the search", self.budget, 1, "it must be at least 1")?;
        scorer.check()
    }

    /// Returns the number of arms that go on after a round with `arms` arms.
    fn kept(&self, arms: usize) -> usize {
        // The small number undoes the rounding of shares such as 1/3.
        ((arms as f64 * self.keep + 1e-9).floor() as usize).clamp(1, arms.saturating_sub(1).max(1))
    }

    /// Returns the number of rounds until one of `arms` arms is left.
    fn rounds(&self, mut arms: usize) -> u64 {
        let mut rounds = 1;
        while self.kept(arms) > 1 {
            (arms, rounds) = (self.kept(arms), rounds + 1);
        }
        rounds
    }

    /// Returns the smallest number of draws with which an arm is scored.
    fn least_draws(&self) -> usize {
        self.draws.div_ceil(4).max(2)
    }

    /// Plays one round: moves the arms within `allowance`, and scores them.
    fn play(&self, arms: &mut [Arm], allowance: u64, scorer: &SteinScorer) -> Result<()> {
        arms.iter_mut().for_each(Arm::forget_score);
        let Some(observations) = arms.iter_mut().find_map(Arm::observations) else { return Ok(()) };
        let (per_draw, center) = (scorer.cost_of_draw(observations), scorer.cost_of_center(observations));
        let share = allowance.saturating_sub(center) / arms.len() as u64;
        let reserved = per_draw.saturating_mul(self.draws as u64);
        if share <= reserved {
            return Err(self.too_small(share, "the scores of an arm cost more"));
        }
        arms.par_iter_mut().for_each(|arm| arm.advance(share - reserved));
        let enough = |arm: &&Arm| arm.error.is_none() && arm.available() >= self.least_draws();
        let Some(draws) = arms.iter().filter(enough).map(|arm| arm.available().min(self.draws)).min() else {
            // Arms that failed are a result, and arms without draws a mistake.
            let started = arms.iter().any(|arm| arm.error.is_none());
            return if started { Err(self.too_small(share, "no arm could make enough draws")) } else { Ok(()) };
        };
        let center = if scorer.uses_all(observations) {
            None
        } else {
            let selected: Vec<Vec<f64>> = arms.iter().filter(enough).map(|arm| arm.selected(draws).0).collect();
            let first = arms.iter_mut().find(|arm| enough(&&**arm));
            first.map(|arm| arm.center(&selected, center)).transpose()?
        };
        let least = self.least_draws();
        arms.par_iter_mut().for_each(|arm| arm.measure(draws, least, scorer, center.as_ref(), per_draw));
        let samples: Vec<(usize, &Sample)> = arms
            .iter()
            .enumerate()
            .filter_map(|(place, arm)| arm.sample.as_ref().map(|sample| (place, sample)))
            .collect();
        let scores =
            scorer.scores(&samples.iter().map(|(_, sample)| *sample).collect::<Vec<_>>(), self.kept(arms.len()));
        let places: Vec<usize> = samples.iter().map(|(place, _)| *place).collect();
        for (place, score) in places.into_iter().zip(scores) {
            arms[place].score = score;
        }
        Ok(())
    }

    /// Returns the error for a budget that gives an arm only `share` gradients in a round.
    fn too_small(&self, share: u64, reason: &str) -> Error {
        let value =
            format!("{} gradients of single observations, {share} for an arm in a round, and {reason}", self.budget);
        let expected = "use a larger budget, fewer arms, fewer draws, or fewer observations per score";
        Error::Setting { name: "the budget of the search", value, expected }
    }

    /// Returns the sentence that says why an arm was eliminated.
    fn reason(&self, result: &ArmResult, rank: usize, arms: usize, going_on: usize) -> String {
        let ArmResult { arm, round, draws, score, error, .. } = result;
        match error {
            Some(error) => format!("arm {arm} failed in round {round}: {error}"),
            None if *draws < self.least_draws() => {
                let least = self.least_draws();
                format!(
                    "arm {arm} made {draws} draws to score in round {round}, and {least} are needed: its steps cost too much"
                )
            }
            None => format!(
                "arm {arm} has the score {score:.3e} in round {round}, number {rank} of {arms}, and {going_on} went on"
            ),
        }
    }
}

/// Returns the cost of all arms.
fn cost(results: &[ArmResult], playing: &[Arm]) -> u64 {
    results.iter().map(|result| result.cost).chain(playing.iter().map(|arm| arm.cost)).sum()
}
