//! Dynamics that do not move: see [`UpdatesOnly`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Oracle, Result};

use crate::dynamics::{Dynamics, impl_has_position};
use crate::step_size::StepContext;

/// Dynamics that do not move, for runs that consist of [updates](super::Update) alone.
///
/// # Rule
///
/// A step draws a new minibatch, if the estimator has minibatches, and evaluates the log density on it, without a
/// gradient. The updates of the run then move the chain. The chain is exact if all updates are.
///
/// The step size is the weight of the draws. [`updates_only`](crate::presets::updates_only) sets it to one.
///
/// # Examples
///
/// A Gibbs sampler of two correlated normal parameters:
///
/// ```
/// use rand::RngExt;
/// use rand_distr::StandardNormal;
/// use sgmcmc::algorithms::UpdateContext;
/// use sgmcmc::prelude::*;
/// use sgmcmc::presets::updates_only;
///
/// let model = Model::density(|(a, b): (Tensor<1>, Tensor<1>)| {
///     (a.clone().square() + b.clone().square() - a * b) * (-2.0 / 3.0)
/// });
/// // Given one, the other is normal with mean ½ of it and variance ¾.
/// let draw = |given: &'static str, drawn: &'static str| {
///     move |context: &mut UpdateContext<'_>| {
///         let mean = 0.5 * context.get(given)?[0];
///         let z: f64 = context.rng().sample(StandardNormal);
///         context.set(drawn, &[mean + 0.75_f64.sqrt() * z])
///     }
/// };
/// let fit = updates_only(&model, &Dataset::none())
///     .update(move |_chain| draw("1", "0"))
///     .update(move |_chain| draw("0", "1"))
///     .sample(&(zeros([1]), zeros([1])), 2000)?;
/// assert!((fit.summary().rows()[0].sd - 1.0).abs() < 0.2);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdatesOnly;

/// The state of a chain that only updates move: its position.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
}

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for UpdatesOnly {
    type State = State;

    fn init(&self, theta: &[f64], _context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        Ok(State { theta: theta.to_vec() })
    }

    fn step(&self, state: &mut State, _context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        oracle.next_minibatch(&state.theta)?;
        oracle.log_density(&state.theta)
    }

    fn is_exact(&self) -> bool {
        true
    }
}
