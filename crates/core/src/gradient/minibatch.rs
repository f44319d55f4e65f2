//! The minibatch gradient: ĝ(θ) = ∇ log p(θ) + Σ_{i∈S} wᵢ ∇ log p(xᵢ|θ), with wᵢ = N/n for uniform schemes.
//!
//! Source: Welling & Teh (2011), eq. (4). Cost: n observations per estimate. Variance without replacement:
//! N(N−n)/n · V, with V the sample covariance (divisor N−1) of the ∇ log p(xᵢ|θ).

use super::{GradientEstimator, draw_first, scores};
use crate::engine::Evaluator;
use crate::error::Result;
use crate::minibatch::{Minibatch, Scheme, WithoutReplacement};
use crate::rng::StreamRng;

/// The plain stochastic gradient, from minibatches drawn by `scheme`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MinibatchGradient<S = WithoutReplacement> {
    /// How minibatches are drawn.
    pub scheme: S,
}

impl<S: Scheme> MinibatchGradient<S> {
    /// The estimator with minibatches drawn by `scheme`.
    pub fn new(scheme: S) -> Self {
        Self { scheme }
    }
}

impl<S: Scheme> GradientEstimator for MinibatchGradient<S> {
    type State = S::State;

    fn init(&self, _theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<S::State> {
        self.scheme.init(evaluator.observations())
    }

    fn draw(&self, state: &mut S::State, rng: &mut StreamRng, batch: &mut Minibatch) {
        self.scheme.draw(state, rng, batch);
    }

    fn estimate(
        &self,
        _state: &mut S::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut [f64],
    ) -> Result<f64> {
        out.fill(0.0);
        evaluator.posterior(theta, batch.as_rows()?, out)
    }

    fn draw_independent(&self, observations: usize, rng: &mut StreamRng, batch: &mut Minibatch) -> Result<()> {
        draw_first(&self.scheme, observations, rng, batch)
    }

    fn noise_terms(
        &self,
        _state: &Self::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        scores(theta, evaluator, batch, out)
    }

    fn has_distinct_observations(&self) -> bool {
        self.scheme.has_distinct_observations()
    }
}
