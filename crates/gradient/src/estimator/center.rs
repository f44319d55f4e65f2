//! The center θ̂ of a control variate, with the exact gradient at θ̂.

use serde::{Deserialize, Serialize};

use crate::data::Rows;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::minibatch::Minibatch;

/// A point θ̂, with the log-likelihood and its gradient over all observations.
///
/// The prior is not included: its gradient is exact at every θ and needs no control variate.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::Center;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 4.0], [3])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let center = Center::new(&[2.0], evaluator.as_mut())?;
/// assert_eq!(center.point(), [2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Center {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    #[serde(skip)]
    scratch: Vec<f64>,
}

impl Center {
    /// Creates the center at `point`, with one pass over all observations.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn new(point: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self> {
        let mut gradient = vec![0.0; point.len()];
        let value = evaluator.likelihood(point, evaluator.all_rows(), &mut gradient)?;
        Ok(Self { point: point.to_vec(), value, gradient, scratch: Vec::new() })
    }

    /// Moves the center to `point`, with one pass over all observations.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn renew(&mut self, point: &[f64], evaluator: &mut dyn Evaluator) -> Result<()> {
        *self = Self::new(point, evaluator)?;
        Ok(())
    }

    /// Returns θ̂.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// Writes ∇ᵢ(θ) − ∇ᵢ(θ̂) of each observation of `batch` into `out`.
    pub(super) fn terms(
        &self,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        let half = batch.rows.len() * theta.len();
        out.resize(2 * half, 0.0);
        let (at_theta, at_center) = out.split_at_mut(half);
        let rows = Rows::list(&batch.rows);
        evaluator.gradient_per_observation(theta, rows, at_theta)?;
        evaluator.gradient_per_observation(&self.point, rows, at_center)?;
        at_theta.iter_mut().zip(at_center).for_each(|(at_theta, at_center)| *at_theta -= *at_center);
        out.truncate(half);
        Ok(())
    }

    /// Writes ∇ log p(θ) + G(θ̂) + Σ_{i∈S} wᵢ [∇ᵢ(θ) − ∇ᵢ(θ̂)] into `out`, where G is the gradient of the
    /// log-likelihood over all observations. Returns the same combination of log densities.
    pub(super) fn estimate(
        &mut self,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut [f64],
    ) -> Result<f64> {
        let Self { point, value, gradient, scratch } = self;
        let rows = batch.as_rows()?;
        scratch.clear();
        scratch.resize(point.len(), 0.0);
        out.fill(0.0);
        // The two minibatch sums are subtracted first, so that they cancel exactly at θ = θ̂.
        let at_theta = evaluator.likelihood(theta, rows, out)?;
        let at_center = evaluator.likelihood(point, rows, scratch)?;
        for ((out, at_center), full) in out.iter_mut().zip(scratch.iter()).zip(gradient.iter()) {
            *out = (*out - at_center) + full;
        }
        let prior = evaluator.prior(theta, out)?;
        Ok((at_theta - at_center) + *value + prior)
    }
}

/// Implements `draw`, `estimate` and `noise_terms` of a [`GradientEstimator`](super::GradientEstimator) whose state has
/// the fields `scheme` and `center`.
///
/// Such estimators differ only in the center: `init` places it and `advance` moves it.
macro_rules! estimate_with_center {
    () => {
        fn draw(&self, state: &mut Self::State, rng: &mut $crate::rng::StreamRng, batch: &mut $crate::Minibatch) {
            self.scheme.draw(&mut state.scheme, rng, batch);
        }

        fn estimate(
            &self,
            state: &mut Self::State,
            theta: &[f64],
            evaluator: &mut dyn $crate::Evaluator,
            batch: &$crate::Minibatch,
            out: &mut [f64],
        ) -> $crate::Result<f64> {
            state.center.estimate(theta, evaluator, batch, out)
        }

        fn noise_terms(
            &self,
            state: &Self::State,
            theta: &[f64],
            evaluator: &mut dyn $crate::Evaluator,
            batch: &$crate::Minibatch,
            out: &mut Vec<f64>,
        ) -> $crate::Result<()> {
            state.center.terms(theta, evaluator, batch, out)
        }
    };
}

pub(super) use estimate_with_center;
