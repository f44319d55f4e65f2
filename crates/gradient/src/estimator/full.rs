//! The exact gradient.

use super::{ExactGradient, GradientEstimator};
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::minibatch::{Minibatch, WithoutReplacement};
use crate::rng::StreamRng;

/// The exact gradient ∇ log p(θ) + Σᵢ ∇ log p(xᵢ|θ) over all observations.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{FullGradient, Oracle};
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::ChainRng;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 4.0], [3])?)?;
/// let evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let mut oracle = Oracle::new(FullGradient, evaluator, &[0.0], ChainRng::new(1, 0))?;
/// let mut gradient = [0.0];
/// oracle.gradient(&[2.0], &mut gradient)?;
/// assert_eq!(gradient, [1.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FullGradient;

impl GradientEstimator for FullGradient {
    type Scheme = WithoutReplacement;
    type State = ();

    fn scheme(&self) -> Option<&WithoutReplacement> {
        None
    }

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
}

impl ExactGradient for FullGradient {}
