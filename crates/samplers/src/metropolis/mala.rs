//! The Metropolis-adjusted Langevin algorithm: see [`Mala`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{ExactGradient, Layout, Oracle, Result};

use super::covariance::Covariance;
use super::outcome::{Outcome, Proposal};
use super::point::{Point, impl_has_position_of_point};
use super::proposal::{Leapfrog, LeapfrogWorkspace, TrajectoryLength, kinetic, standard_normal};
use super::step::{DualAveraging, StepSizeAdaptation};
use super::warm_up::{MassAdaptation, WarmUp};
use crate::dynamics::Dynamics;
use crate::step_size::StepContext;

/// The Metropolis-adjusted Langevin algorithm (MALA).
///
/// # Rule
///
/// The proposal θ* = θ + h/2 M g(θ) + √h S z, M = S Sᵀ, z ~ N(0, I), is accepted with probability min(1, p(θ*|x)
/// q(θ|θ*) / (p(θ|x) q(θ*|θ))), where q(θ*|θ) is the density N(θ*; θ + h/2 M g(θ), h M). At temperature T the values of
/// the parameters have density p(θ|x)^{1/T}.
///
/// The ratio needs no inverse of M: the noise of the reverse move is z* = −(z + ½ √h Sᵀ(g(θ) + g(θ*))), and
/// log q(θ|θ*) − log q(θ*|θ) = ½ zᵀz − ½ z*ᵀz*. This is [`Hmc`](super::Hmc) with one leapfrog step, draw for draw.
///
/// # Source
///
/// Roberts & Tweedie (1996); Baker (2019), §4.2.2.
///
/// # Cost
///
/// One full gradient per proposal, and three products with S.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `covariance` | identity | constant matrix M, an approximation of the posterior covariance | positive definite |
/// | `adapt` | `None` | step-size adaptation; an acceptance rate of 0.57 is optimal in many dimensions | |
/// | `warm_up` | `None` | adaptation of step size and M, in place of `adapt`; begins with `covariance` | |
///
/// The step size h has the unit of a variance of the coordinates, or no unit if M is a posterior covariance.
///
/// Statistics with every draw: `acceptance_rate`, `step_size` (√h).
///
/// # Bias
///
/// None.
///
/// # When to use it
///
/// As an exact reference for [`Sgld`](crate::langevin::Sgld), and for models of low dimension.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{DualAveraging, Mala};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let adapt = DualAveraging { iterations: 200, acceptance: 0.57 };
/// let dynamics = Mala { adapt: Some(adapt), ..Mala::default() };
/// let fit = mala(&model, &Dataset::none(), 0.1).dynamics(dynamics).seed(1).sample(&zeros([1]), 1000)?;
/// assert!((fit.summary().rows()[0].sd - 1.0).abs() < 0.4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mala {
    /// The constant matrix M, an approximation of the posterior covariance.
    pub covariance: Covariance,
    /// Step-size adaptation; `None` disables it.
    pub adapt: Option<DualAveraging>,
    /// Adaptation of step size and M; `None` disables it.
    pub warm_up: Option<WarmUp>,
}

/// The position of the chain, the adaptation and the result of the last proposal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    outcome: Outcome,
    /// Checkpoints without it are those of chains without a warm-up.
    #[serde(default)]
    mass: MassAdaptation,
    #[serde(skip)]
    workspace: LeapfrogWorkspace,
}

impl_has_position_of_point!(State);

impl<G: ExactGradient> Dynamics<G> for Mala {
    type State = State;

    fn check(&self) -> Result<()> {
        WarmUp::check(self.adapt, self.warm_up)
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        self.covariance.check_dim(theta.len())?;
        let mut workspace = LeapfrogWorkspace::default();
        workspace.prepare(theta.len(), context, StepSizeAdaptation::default())?;
        let point = Point::evaluate(theta, oracle)?;
        Ok(State { point, outcome: Outcome::default(), mass: MassAdaptation::default(), workspace })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        state.point.retemper(from, oracle)
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, outcome, mass, workspace } = state;
        let dim = point.theta.len();
        if mass.needs_step_size(self.warm_up, outcome.adaptation) {
            let (mass_root, length) = (&mut mass.mass(&self.covariance, dim)?, TrajectoryLength::ONE);
            let leapfrog = Leapfrog { mass_root, length, adaptation: outcome.adaptation };
            let found = leapfrog.find_step_size(point, context, workspace, oracle)?;
            mass.start(&mut outcome.adaptation, found);
        }
        workspace.prepare(dim, context, outcome.adaptation)?;
        standard_normal(&mut workspace.z, oracle.noise());
        let forward = kinetic(&workspace.z);
        let mass_root = &mut mass.mass(&self.covariance, dim)?;
        // One product of S with z + ½ √h Sᵀ g gives noise and drift.
        workspace.end.clone_from(point);
        workspace.kick(mass_root, context.temperature, 0.5);
        workspace.drift(mass_root);
        workspace.end.update(oracle)?;
        let log_ratio = if workspace.end.is_finite() {
            // Now z is −z*, which has the norm of z*.
            workspace.kick(mass_root, context.temperature, 0.5);
            (workspace.end.log_posterior - point.log_posterior) / context.temperature + forward - kinetic(&workspace.z)
        } else {
            f64::NEG_INFINITY
        };
        let proposal = Proposal { start: point, end: &mut workspace.end, log_ratio };
        let adapt = mass.dual_averaging(self.adapt, self.warm_up);
        outcome.decide(adapt, proposal, context, oracle.noise());
        if let Some(warm_up) = self.warm_up.filter(|_| outcome.adapting) {
            mass.update(warm_up, &point.theta, context, &mut outcome.adaptation);
        }
        Ok(point.log_posterior)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_preconditioned(&self) -> bool {
        self.covariance != Covariance::IDENTITY || self.warm_up.is_some()
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        state.mass.mass(&self.covariance, v.len())?.apply_root(v, transpose);
        Ok(())
    }

    fn workspace(&self, dim: usize) -> usize {
        WarmUp::workspace(self.warm_up, dim)
    }

    fn keeps_draw(&self, state: &State) -> bool {
        !state.outcome.adapting
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Outcome::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.outcome.write(out);
    }
}
