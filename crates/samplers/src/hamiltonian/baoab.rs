//! Underdamped Langevin dynamics by the splitting BAOAB: see [`Baoab`].

use std::ops::Bound;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Oracle, Result, settings};

use super::{drift, kick, refresh, renew, rescale};
use crate::dynamics::{Dynamics, impl_has_position};
use crate::law::{Direction, Linear};
use crate::step_size::StepContext;

/// Underdamped Langevin dynamics by the symmetric splitting BAOAB.
///
/// # Rule
///
/// One step:
///
/// - B: ν += h/2 ĝ(θ)
/// - A: θ += ν/2
/// - O: ν ← e^{−α} ν + N(0, (1 − e^{−2α}) h T)
/// - A: θ += ν/2
/// - B: ν += h/2 ĝ(θ), at the new θ.
///
/// # Source
///
/// Leimkuhler & Matthews (2013).
///
/// # Cost
///
/// One gradient estimate per step. The last B of a step and the first B of the next step share it.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `alpha` | 0.1 | friction α per step, without unit; the velocity is forgotten in about 1/α steps | > 0 |
///
/// The step size is h = ε², in the unit of a variance of the coordinates.
///
/// # Bias
///
/// With the exact gradient of a normal density the variance of the positions is exact. Gradient noise increases the
/// variance: the friction does not adapt to it. [`Badodab`](super::Badodab) adapts.
///
/// # When to use it
///
/// With the full gradient or with control variates, where gradient noise is small.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Baoab;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let fit = ula(&model, &Dataset::none(), 0.1).dynamics(Baoab { alpha: 0.5 }).seed(1).sample(&zeros([1]), 2000)?;
/// assert!((fit.summary().rows()[0].sd - 1.0).abs() < 0.4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baoab {
    /// The friction α per step.
    pub alpha: f64,
}

impl Default for Baoab {
    fn default() -> Self {
        Self { alpha: 0.1 }
    }
}

/// The position θ, the velocity ν and the last gradient estimate ĝ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    velocity: Vec<f64>,
    g: Vec<f64>,
}

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for Baoab {
    type State = State;

    fn check(&self) -> Result<()> {
        positive_friction(self.alpha)
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let (mut velocity, mut g) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        refresh(&mut velocity, context, oracle.noise());
        oracle.gradient(theta, &mut g)?;
        Ok(State { theta: theta.to_vec(), velocity, g })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.theta.copy_from_slice(theta);
        // The next step begins with the gradient at the new position.
        oracle.gradient(&state.theta, &mut state.g)?;
        Ok(())
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        oracle.retemper(from, &state.theta, &mut state.g)?;
        Ok(())
    }

    fn step(
        &self,
        State { theta, velocity, g }: &mut State,
        context: StepContext<'_>,
        oracle: &mut Oracle<G>,
    ) -> Result<f64> {
        rescale(velocity, context);
        kick(velocity, g, context, 0.5);
        drift(theta, velocity, 0.5);
        let (kept, renewed) = ((-self.alpha).exp(), -(-2.0 * self.alpha).exp_m1());
        let rng = oracle.noise();
        for block in context.blocks {
            let sd = (renewed * block.h * context.temperature).sqrt();
            renew(velocity, block.range.clone(), kept, sd, rng);
        }
        drift(theta, velocity, 0.5);
        let log_posterior = oracle.gradient(theta, g)?;
        kick(velocity, g, context, 0.5);
        Ok(log_posterior)
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        let t = direction.temperature;
        let (kept, renewed) = ((-self.alpha).exp(), -(-2.0 * self.alpha).exp_m1());
        // Both half kicks at a position use the same minibatch, so together they are one kick.
        let step = Linear::new(direction).kick(1.0).drift(0.5).damp(kept, renewed * t).drift(0.5);
        Some(step.variance_ratio(t))
    }
}

/// Checks that `alpha` is positive. Infinity is allowed: the velocity is then drawn anew in every step.
fn positive_friction(alpha: f64) -> Result<()> {
    settings::within(
        "the friction alpha",
        alpha,
        (Bound::Excluded(0.0), Bound::Unbounded),
        "it must be a positive number",
    )
    .map(|_| ())
}
