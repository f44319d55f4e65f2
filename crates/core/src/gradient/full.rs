//! The exact gradient: ∇ log p(θ) + Σᵢ ∇ log p(xᵢ|θ), over all observations, in chunks of bounded memory.

use super::{ExactGradient, GradientEstimator};
use crate::engine::Evaluator;
use crate::error::Result;
use crate::minibatch::Minibatch;
use crate::rng::StreamRng;

/// All observations in every estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FullGradient;

impl GradientEstimator for FullGradient {
    type State = ();

    fn init(&self, _theta: &[f64], _evaluator: &mut dyn Evaluator) -> Result<()> {
        Ok(())
    }

    fn draw(&self, _state: &mut (), _rng: &mut StreamRng, _batch: &mut Minibatch) {}

    fn estimate(
        &self,
        _state: &mut (),
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        _batch: &Minibatch,
        out: &mut [f64],
    ) -> Result<f64> {
        out.fill(0.0);
        evaluator.posterior(theta, evaluator.all_rows(), out)
    }

    fn draw_independent(&self, _observations: usize, _rng: &mut StreamRng, batch: &mut Minibatch) -> Result<()> {
        batch.rows.clear();
        Ok(())
    }

    fn noise_terms(
        &self,
        _state: &(),
        _theta: &[f64],
        _evaluator: &mut dyn Evaluator,
        _batch: &Minibatch,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        out.clear();
        Ok(())
    }

    fn has_distinct_observations(&self) -> bool {
        true
    }
}

impl ExactGradient for FullGradient {}
