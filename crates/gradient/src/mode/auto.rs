//! The default search for the mode.

use super::search::variance_reduced;
use super::{
    LbfgsSearch, Mode, ModeFinder, ModeSearch, NEGLIGIBLE_GAIN, SearchOutcome, StopRule, minibatch_size, newton,
};
use crate::error::Result;
use crate::estimator::{FullGradient, GradientEstimator, Oracle};
use crate::evaluator::Evaluator;
use crate::minibatch::Scheme;
use crate::rng::ChainRng;

/// L-BFGS on all observations if that is cheap, and Adam on variance-reduced minibatches otherwise.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `full` | [`LbfgsSearch`] | the search on all observations |
/// | `minibatch` | [`ModeSearch`] | the search on minibatches |
///
/// L-BFGS is used for up to 20 000 observations. For more observations it is used if it is expected to read fewer of
/// them in total. The estimate for L-BFGS is N (100 + 2 min(d, 100)), for a hundred steps and the verification of the
/// mode. The estimate for the search on minibatches is i (3n + N/e), for i steps on minibatches of n observations with
/// an evaluation on all observations every e steps. With the default settings and few parameters, L-BFGS is used if N
/// is at most about 500 n, which includes the default minibatches of 1 %. Runs without minibatches use L-BFGS.
///
/// If L-BFGS ends [too far](Mode::is_close) from the mode, for instance at a kink of the density, the search on
/// minibatches continues from its last point. The better of the two points is returned. A better point of the second
/// search is reported as converged only if the predicted gain of a Newton step is at most [`NEGLIGIBLE_GAIN`].
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::AutoSearch;
///
/// let search = AutoSearch::default();
/// assert!(search.uses_lbfgs(10_000, 100, 5));
/// assert!(!search.uses_lbfgs(10_000_000, 100, 5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AutoSearch {
    /// The search on all observations.
    pub full: LbfgsSearch,
    /// The search on minibatches.
    pub minibatch: ModeSearch,
}

/// The number of observations up to which L-BFGS is always used.
const FEW: usize = 20_000;
/// The typical number of passes over all observations of L-BFGS.
const TYPICAL_PASSES: usize = 100;

impl AutoSearch {
    /// Returns `true` if L-BFGS is used for `observations`, minibatches of `minibatch` observations, and `dim`
    /// coordinates.
    pub fn uses_lbfgs(&self, observations: usize, minibatch: usize, dim: usize) -> bool {
        let (all, steps) = (observations as f64, self.minibatch.max_iterations as f64);
        let evaluations = match self.minibatch.stop {
            StopRule::Never => 1.0,
            StopRule::Plateau { every, .. } => steps / every.max(1) as f64,
        };
        let full = all * (TYPICAL_PASSES + 2 * dim.min(newton::DENSE)) as f64;
        observations <= FEW || full <= 3.0 * steps * minibatch as f64 + evaluations * all
    }

    /// Searches with L-BFGS, and continues with gradients of `estimator` if L-BFGS ends too far from the mode.
    fn with_fallback<G: GradientEstimator>(
        &self,
        estimator: G,
        mut evaluator: Box<dyn Evaluator>,
        start: &[f64],
    ) -> Result<Mode> {
        let mut first = self.full.run(evaluator.as_mut(), start)?;
        if first.is_close() {
            return Ok(first);
        }
        let rng = ChainRng::new(self.minibatch.seed, 0);
        let mut oracle = Oracle::new(estimator, evaluator, &first.theta, rng)?;
        // If the second search fails, the result of the first one is returned. Its outcome reports that it did not
        // converge.
        let Ok(mut second) = self.minibatch.run_on_oracle(&mut oracle, &first.theta) else { return Ok(first) };
        let (iterations, passes) = (first.iterations + second.iterations, first.full_passes + second.full_passes);
        if second.log_posterior <= first.log_posterior {
            (first.iterations, first.full_passes) = (iterations, passes);
            return Ok(first);
        }
        let step = newton::step_at(oracle.evaluator(), &second.theta)?;
        second.start_log_posterior = first.start_log_posterior;
        (second.iterations, second.full_passes) = (iterations, passes + step.passes);
        second.predicted_gain = step.gain;
        if second.outcome == SearchOutcome::Converged && step.gain.is_none_or(|gain| gain > NEGLIGIBLE_GAIN) {
            second.outcome = SearchOutcome::Stalled;
        }
        Ok(second)
    }
}

impl ModeFinder for AutoSearch {
    fn find<S: Scheme>(&self, evaluator: Box<dyn Evaluator>, minibatches: Option<S>, start: &[f64]) -> Result<Mode> {
        let observations = evaluator.observations();
        match minibatches {
            None => self.with_fallback(FullGradient, evaluator, start),
            Some(scheme) if self.uses_lbfgs(observations, minibatch_size(&scheme, observations)?, start.len()) => {
                self.with_fallback(variance_reduced(scheme, observations)?, evaluator, start)
            }
            minibatches => self.minibatch.find(evaluator, minibatches, start),
        }
    }
}
