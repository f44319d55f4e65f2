//! The default search: L-BFGS where passes over all observations are cheap, else Adam on minibatches.

use super::search::variance_reduced;
use super::{Ending, LbfgsSearch, Mode, ModeFinder, ModeSearch, NEGLIGIBLE_GAIN, Stop, minibatch_size, newton};
use crate::engine::Evaluator;
use crate::error::Result;
use crate::gradient::{FullGradient, GradientEstimator, Oracle};
use crate::minibatch::Scheme;
use crate::rng::ChainRng;

/// L-BFGS on all observations where that is cheap, else Adam on variance-reduced minibatches.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `full` | [`LbfgsSearch`] | the search on all observations |
/// | `minibatch` | [`ModeSearch`] | the search on minibatches |
///
/// L-BFGS is chosen for up to 20 000 observations, and beyond where it is expected to read fewer observations: N (100 + 2 min(d, 100)) for a
/// hundred steps and the verification of the mode, against i (3n + N/e) for i steps on minibatches of n with a look at all
/// observations every e steps. With the default settings and few parameters that is N ≤ 500 n or so, and so with the default minibatches
/// of 1 %. Runs without minibatches use L-BFGS.
///
/// If L-BFGS ends [too far](Mode::is_close) from the mode, as it may at a kink of the density, the search on minibatches continues from there. The better of the
/// two points is returned. A point of the second search that is better counts as converged only if a Newton step promises no more than
/// [`NEGLIGIBLE_GAIN`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AutoSearch {
    /// The search on all observations.
    pub full: LbfgsSearch,
    /// The search on minibatches.
    pub minibatch: ModeSearch,
}

/// The number of observations up to which full passes are always cheap.
const FEW: usize = 20_000;
/// Full passes that L-BFGS takes to arrive.
const TYPICAL_PASSES: usize = 100;

impl AutoSearch {
    /// Returns whether L-BFGS is chosen for `observations`, minibatches of `minibatch` and `dim` parameters.
    pub fn uses_lbfgs(&self, observations: usize, minibatch: usize, dim: usize) -> bool {
        let (observations_read, steps) = (observations as f64, self.minibatch.max_iterations as f64);
        let looks = match self.minibatch.stop {
            Stop::Never => 1.0,
            Stop::Plateau { every, .. } => steps / every.max(1) as f64,
        };
        let full = observations_read * (TYPICAL_PASSES + 2 * dim.min(newton::DENSE)) as f64;
        observations <= FEW || full <= 3.0 * steps * minibatch as f64 + looks * observations_read
    }

    /// Searches with L-BFGS, and continues on the gradients of `estimator` if that did not arrive.
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
        // A second search that fails leaves the result of the first, which says that it did not converge.
        let Ok(mut second) = self.minibatch.climb(&mut oracle, &first.theta) else { return Ok(first) };
        let (iterations, passes) = (first.iterations + second.iterations, first.full_passes + second.full_passes);
        if second.log_posterior <= first.log_posterior {
            (first.iterations, first.full_passes) = (iterations, passes);
            return Ok(first);
        }
        let promise = newton::promised_gain(oracle.evaluator(), &second.theta)?;
        second.start_log_posterior = first.start_log_posterior;
        (second.iterations, second.full_passes) = (iterations, passes + promise.passes);
        second.promised_gain = promise.gain;
        if second.ending == Ending::Converged && promise.gain.is_none_or(|gain| gain > NEGLIGIBLE_GAIN) {
            second.ending = Ending::Stalled;
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
