//! Underdamped Langevin dynamics by the splitting BAOAB: see [`Baoab`].

use std::ops::Bound;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{GradientEstimator, Oracle, Result, settings};

use super::{drift, kick, refresh, renew, rescale};
use crate::dynamics::{Dynamics, impl_has_position};
use crate::law::{Direction, LinearStep};
use crate::metropolis::{Covariance, MassRoot};
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
/// With a covariance M = S Sᵀ other than the identity, ν is the velocity in whitened coordinates: A is θ += S ν/2 and B
/// is ν += h/2 Sᵀ ĝ(θ). If the step sizes differ by parameter, S stands for H^{1/2} S H^{−1/2} in A and for its
/// transpose in B, where H is the diagonal matrix of the step sizes.
///
/// # Source
///
/// Leimkuhler & Matthews (2013).
///
/// # Cost
///
/// One gradient estimate per step. The last B of a step and the first B of the next step share it. A dense covariance
/// costs two products with a triangular matrix.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `alpha` | 0.1 | friction α per step, without unit; the velocity is forgotten in about 1/α steps | > 0 |
/// | `covariance` | identity | inverse mass M, an approximation of the posterior covariance | positive definite |
///
/// The step size is h = ε², in the unit of a variance of the coordinates, or without unit if M is a posterior
/// covariance.
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
/// let dynamics = Baoab { alpha: 0.5, ..Baoab::default() };
/// let fit = ula(&model, &Dataset::none(), 0.1).dynamics(dynamics).seed(1).sample(&zeros([1]), 2000)?;
/// assert!((fit.summary().rows()[0].sd - 1.0).abs() < 0.4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Baoab {
    /// The friction α per step.
    pub alpha: f64,
    /// The inverse mass M, an approximation of the posterior covariance.
    pub covariance: Covariance,
}

impl Default for Baoab {
    fn default() -> Self {
        Self { alpha: 0.1, covariance: Covariance::IDENTITY }
    }
}

/// The position θ, the velocity ν and the last gradient estimate ĝ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    velocity: Vec<f64>,
    g: Vec<f64>,
    #[serde(skip)]
    workspace: Workspace,
}

/// The work memory of a step with a covariance.
#[derive(Clone, Debug, Default)]
struct Workspace {
    /// h Sᵀ ĝ, computed from the last gradient estimate. It is empty if it has to be computed.
    whitened: Vec<f64>,
    /// A vector before and after a product with S or Sᵀ.
    before: Vec<f64>,
    after: Vec<f64>,
}

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for Baoab {
    type State = State;

    fn check(&self) -> Result<()> {
        positive_friction(self.alpha)
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        self.covariance.check_dim(theta.len())?;
        let (mut velocity, mut g) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        refresh(&mut velocity, context, oracle.noise());
        oracle.gradient(theta, &mut g)?;
        Ok(State { theta: theta.to_vec(), velocity, g, workspace: Workspace::default() })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.theta.copy_from_slice(theta);
        // The next step begins with the gradient at the new position.
        oracle.gradient(&state.theta, &mut state.g)?;
        state.workspace.whitened.clear();
        Ok(())
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        oracle.retemper(from, &state.theta, &mut state.g)?;
        state.workspace.whitened.clear();
        Ok(())
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, velocity, g, workspace } = state;
        rescale(velocity, context);
        if self.covariance != Covariance::IDENTITY {
            let changed = context.blocks.iter().any(|block| block.h.to_bits() != block.previous.to_bits());
            if changed || workspace.whitened.is_empty() {
                self.whiten(g, workspace, context);
            }
            half_kick(velocity, &workspace.whitened);
            self.move_whitened(theta, velocity, workspace, context, oracle.noise());
            let log_posterior = oracle.gradient(theta, g)?;
            self.whiten(g, workspace, context);
            half_kick(velocity, &workspace.whitened);
            return Ok(log_posterior);
        }
        kick(velocity, g, context, 0.5);
        drift(theta, velocity, 0.5);
        self.damp(velocity, context, oracle.noise());
        drift(theta, velocity, 0.5);
        let log_posterior = oracle.gradient(theta, g)?;
        kick(velocity, g, context, 0.5);
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        self.covariance != Covariance::IDENTITY
    }

    fn apply_root(&self, _state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        self.covariance.apply_root(v, transpose);
        Ok(())
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(Self::law(self.alpha, direction).variance_ratio(direction.temperature))
    }
}

impl Baoab {
    /// Returns one step with friction `alpha` on a normal posterior.
    pub(crate) fn law(alpha: f64, direction: &Direction<'_>) -> LinearStep {
        let (kept, renewed) = ((-alpha).exp(), -(-2.0 * alpha).exp_m1());
        // Both half kicks at a position use the same minibatch, so together they are one kick.
        let step = LinearStep::new(direction).kick(1.0).drift(0.5);
        step.damp(kept, renewed * direction.temperature).drift(0.5)
    }

    /// Performs O: ν ← e^{−α} ν + N(0, (1 − e^{−2α}) h T).
    fn damp(&self, velocity: &mut [f64], context: StepContext<'_>, rng: &mut StreamRng) {
        let (kept, renewed) = ((-self.alpha).exp(), -(-2.0 * self.alpha).exp_m1());
        for block in context.blocks {
            let sd = (renewed * block.h * context.temperature).sqrt();
            renew(velocity, block.range.clone(), kept, sd, rng);
        }
    }

    /// Computes h Sᵀ ĝ.
    fn whiten(&self, g: &[f64], workspace: &mut Workspace, context: StepContext<'_>) {
        let Workspace { whitened, before, .. } = workspace;
        before.clear();
        before.extend_from_slice(g);
        whitened.resize(g.len(), 0.0);
        scale_by(before, context, f64::sqrt);
        (&self.covariance).multiply_transposed(before, whitened);
        scale_by(whitened, context, f64::sqrt);
    }

    /// Performs A, O and A with the covariance S Sᵀ. The two drifts are one product with S.
    fn move_whitened(
        &self,
        theta: &mut [f64],
        velocity: &mut [f64],
        workspace: &mut Workspace,
        context: StepContext<'_>,
        rng: &mut StreamRng,
    ) {
        let Workspace { before, after, .. } = workspace;
        before.clear();
        before.extend_from_slice(velocity);
        after.resize(velocity.len(), 0.0);
        self.damp(velocity, context, rng);
        before.iter_mut().zip(&*velocity).for_each(|(sum, v)| *sum = 0.5 * (*sum + v));
        scale_by(before, context, |h| 1.0 / h.sqrt());
        (&self.covariance).multiply(before, after);
        scale_by(after, context, f64::sqrt);
        theta.iter_mut().zip(&*after).for_each(|(theta, moved)| *theta += moved);
    }
}

/// Adds half of a kick to the velocity.
fn half_kick(velocity: &mut [f64], kick: &[f64]) {
    velocity.iter_mut().zip(kick).for_each(|(v, kick)| *v += 0.5 * kick);
}

/// Multiplies each coordinate of `v` by `factor` of its step size.
fn scale_by(v: &mut [f64], context: StepContext<'_>, factor: impl Fn(f64) -> f64) {
    for block in context.blocks {
        let factor = factor(block.h);
        v[block.range.clone()].iter_mut().for_each(|v| *v *= factor);
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
