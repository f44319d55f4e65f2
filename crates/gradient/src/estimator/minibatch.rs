//! The minibatch gradient.

use super::{GradientEstimator, scores};
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::minibatch::{Minibatch, Scheme, WithoutReplacement};
use crate::rng::StreamRng;

/// The plain stochastic gradient ĝ(θ) = ∇ log p(θ) + Σ_{i∈S} wᵢ ∇ log p(xᵢ|θ), with wᵢ = N/n for uniform schemes.
///
/// The cost is n observations per estimate. Without replacement, the covariance is N(N−n)/n · V, where V is the sample
/// covariance (divisor N−1) of the ∇ log p(xᵢ|θ).
///
/// Source: Welling & Teh (2011), eq. (4).
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{MinibatchGradient, Oracle};
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::ChainRng;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithoutReplacement::new(10));
/// let mut oracle = Oracle::new(estimator, evaluator, &[0.0], ChainRng::new(1, 0))?;
/// let mut gradient = [0.0];
/// oracle.gradient(&[-1.0], &mut gradient)?;
/// assert!(gradient[0] > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MinibatchGradient<S = WithoutReplacement> {
    /// The minibatch scheme.
    pub scheme: S,
}

impl<S: Scheme> MinibatchGradient<S> {
    /// Creates an estimator with minibatches of `scheme`.
    pub fn new(scheme: S) -> Self {
        Self { scheme }
    }
}

impl<S: Scheme> GradientEstimator for MinibatchGradient<S> {
    type Scheme = S;
    type State = S::State;

    fn scheme(&self) -> Option<&S> {
        Some(&self.scheme)
    }

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
}
