//! Gradient estimators: unbiased estimates of ∇ log p(θ|x) from minibatches.
//!
//! An estimator is immutable. Everything that changes between calls (a center, a table of gradients, the position in an
//! epoch) is in its `State`. Dynamics use estimators through an [`Oracle`], which returns an estimate on a new
//! minibatch or on the same one.

mod center;
mod control_variate;
mod covariance;
mod full;
mod minibatch;
mod noise;
mod oracle;
mod saga;
mod svrg;

pub use center::Center;
pub use control_variate::{ControlVariate, Recenter};
pub use covariance::{LeadingEigenpair, NoiseCovariance};
pub use full::FullGradient;
pub use minibatch::MinibatchGradient;
pub use noise::{GradientNoise, NoiseReduction};
pub use oracle::{Oracle, OracleState};
pub use saga::Saga;
pub use svrg::Svrg;

use serde::{Serialize, de::DeserializeOwned};

use crate::data::Rows;
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::minibatch::{Minibatch, Scheme};
use crate::rng::StreamRng;

/// An unbiased estimator of ∇ log p(θ|x).
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{GradientEstimator, MinibatchGradient};
/// use sgmcmc::minibatch::{Minibatch, WithoutReplacement};
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::ChainRng;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 4.0], [3])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithoutReplacement::new(3));
/// let (mut rng, mut batch, mut gradient) = (ChainRng::new(1, 0), Minibatch::default(), [0.0]);
/// let mut state = estimator.init(&[2.0], evaluator.as_mut())?;
/// estimator.draw(&mut state, rng.minibatch(), &mut batch);
/// estimator.estimate(&mut state, &[2.0], evaluator.as_mut(), &batch, &mut gradient)?;
/// assert_eq!(gradient, [1.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait GradientEstimator: Send + Sync {
    /// The minibatch scheme. An estimator without minibatches may name any scheme.
    type Scheme: Scheme;

    /// The state that changes between calls. It is part of checkpoints.
    type State: Clone + Send + Serialize + DeserializeOwned + std::fmt::Debug;

    /// Returns the minibatch scheme, or `None` if the estimator has no minibatches.
    fn scheme(&self) -> Option<&Self::Scheme>;

    /// Returns the state of a chain that starts at `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, or the error of the model.
    fn init(&self, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self::State>;

    /// Updates the state before a new estimate at `theta`, for instance the center of SVRG or the table of SAGA.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    fn advance(&self, state: &mut Self::State, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<()> {
        let (_, _, _) = (state, theta, evaluator);
        Ok(())
    }

    /// Draws the observations of the next estimate into `batch`.
    fn draw(&self, state: &mut Self::State, rng: &mut StreamRng, batch: &mut Minibatch);

    /// Writes the estimate at `theta` from the observations of `batch` into `out`. Returns an estimate of log p(θ|x).
    ///
    /// Estimates at several `theta` with the same `batch` have common random numbers.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    fn estimate(
        &self,
        state: &mut Self::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut [f64],
    ) -> Result<f64>;

    /// Draws a minibatch with the distribution of [`draw`](Self::draw), independently of the state of any chain. An
    /// estimator without minibatches leaves `batch` empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the minibatch size does not fit the number of observations.
    fn draw_independent(&self, observations: usize, rng: &mut StreamRng, batch: &mut Minibatch) -> Result<()> {
        match self.scheme() {
            Some(scheme) => scheme.draw(&mut scheme.init(observations)?, rng, batch),
            None => batch.rows.clear(),
        }
        Ok(())
    }

    /// Writes the terms aᵢ of the random sum Σ wᵢ aᵢ of an estimate at `theta`, one row of length d per observation of
    /// `batch`. An estimator without noise leaves `out` empty. [`NoiseCovariance`] is computed from these terms.
    ///
    /// # Errors
    ///
    /// Returns the error of the model. It is an error if the likelihood returns only the sum over observations.
    fn noise_terms(
        &self,
        state: &Self::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut Vec<f64>,
    ) -> Result<()>;

    /// Returns whether the observations of one minibatch are distinct.
    fn has_distinct_observations(&self) -> bool {
        self.scheme().is_none_or(Scheme::has_distinct_observations)
    }
}

/// Writes the gradient of each observation of `batch` into `out`.
fn scores(theta: &[f64], evaluator: &mut dyn Evaluator, batch: &Minibatch, out: &mut Vec<f64>) -> Result<()> {
    out.resize(batch.rows.len() * theta.len(), 0.0);
    evaluator.gradient_per_observation(theta, Rows::list(&batch.rows), out)
}

/// An estimator without noise. Methods with a Metropolis correction (MALA, HMC) require it.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{ExactGradient, FullGradient};
///
/// fn needs_exact_gradients(_estimator: impl ExactGradient) {}
///
/// needs_exact_gradients(FullGradient);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` estimates the gradient from a minibatch, but this method needs the exact gradient",
    note = "use `FullGradient`"
)]
pub trait ExactGradient: GradientEstimator {}
