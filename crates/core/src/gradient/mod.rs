//! Gradient estimators: unbiased estimates of ∇ log p(θ|x) from minibatches.
//!
//! An estimator is immutable; what it remembers between calls (a centre, a table of gradients, a place in an epoch) is its
//! `State`. Dynamics do not see estimators but an [`Oracle`], which they ask for a fresh estimate or for one on the same
//! minibatch.

mod centre;
mod control_variate;
mod covariance;
mod full;
mod minibatch;
mod noise;
mod oracle;
mod saga;
mod svrg;

pub use centre::Centre;
pub use control_variate::{ControlVariate, Recentre};
pub use covariance::{NoiseCovariance, Principal};
pub use full::FullGradient;
pub use minibatch::MinibatchGradient;
pub use noise::{GradientNoise, NoiseReduction};
pub use oracle::{Oracle, OracleState};
pub use saga::Saga;
pub use svrg::Svrg;

use serde::{Serialize, de::DeserializeOwned};

use crate::data::Rows;
use crate::engine::Evaluator;
use crate::error::Result;
use crate::minibatch::{Minibatch, Scheme};
use crate::rng::StreamRng;

/// An unbiased estimate of ∇ log p(θ|x).
pub trait GradientEstimator: Send + Sync {
    /// What the estimator remembers between calls. Goes into checkpoints.
    type State: Clone + Send + Serialize + DeserializeOwned + std::fmt::Debug;

    /// The state of a chain about to start at `theta`.
    fn init(&self, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self::State>;

    /// Moves what the estimator remembers, before a new estimate at `theta`: the centre of SVRG, the table of SAGA.
    fn advance(&self, state: &mut Self::State, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<()> {
        let (_, _, _) = (state, theta, evaluator);
        Ok(())
    }

    /// Chooses the observations of the next estimate.
    fn draw(&self, state: &mut Self::State, rng: &mut StreamRng, batch: &mut Minibatch);

    /// Writes the estimate at `theta` from the observations of `batch` into `out`; returns an estimate of log p(θ|x).
    ///
    /// Calling it again with another `theta` and the same `batch` gives estimates with common random numbers.
    fn estimate(
        &self,
        state: &mut Self::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut [f64],
    ) -> Result<f64>;

    /// Draws a minibatch as [`draw`](Self::draw) does, independently of the state of any chain. An estimator without minibatches
    /// leaves `batch` empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the minibatch size does not fit the number of observations.
    fn draw_independent(&self, observations: usize, rng: &mut StreamRng, batch: &mut Minibatch) -> Result<()>;

    /// Writes the terms aᵢ of the random sum Σ wᵢ aᵢ in an estimate at `theta`, one row of length d per observation of `batch`. An
    /// estimator without noise writes none. [`NoiseCovariance`] is made from these terms.
    ///
    /// # Errors
    ///
    /// Returns the model's error. A likelihood that returns only its sum has no terms.
    fn noise_terms(
        &self,
        state: &Self::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut Vec<f64>,
    ) -> Result<()>;

    /// Returns whether the observations of one minibatch are distinct.
    fn has_distinct_observations(&self) -> bool;
}

/// Draws a minibatch of `scheme` from the state it starts in.
fn draw_first<S: Scheme>(scheme: &S, observations: usize, rng: &mut StreamRng, batch: &mut Minibatch) -> Result<()> {
    scheme.draw(&mut scheme.init(observations)?, rng, batch);
    Ok(())
}

/// Writes the gradient of each observation of `batch` into `out`.
fn scores(theta: &[f64], evaluator: &mut dyn Evaluator, batch: &Minibatch, out: &mut Vec<f64>) -> Result<()> {
    out.resize(batch.rows.len() * theta.len(), 0.0);
    evaluator.per_datum(theta, Rows::list(&batch.rows), out)
}

/// An estimator without error: what methods with an accept step (MALA, HMC) need.
#[diagnostic::on_unimplemented(
    message = "`{Self}` estimates the gradient from a minibatch, but this method needs the exact gradient",
    note = "use `FullGradient`"
)]
pub trait ExactGradient: GradientEstimator {}
