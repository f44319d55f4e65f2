//! Hamiltonian Monte Carlo: see [`Hmc`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{ExactGradient, Layout, Oracle, Result};

use super::covariance::Covariance;
use super::point::{Point, impl_has_position_of_point};
use super::proposal::{Leapfrog, LeapfrogWorkspace, TrajectoryLength, Transition};
use super::step::{DualAveraging, StepSizeAdaptation};
use super::warm_up::{MassAdaptation, WarmUp};
use crate::dynamics::Dynamics;
use crate::step_size::StepContext;

/// Hamiltonian Monte Carlo (HMC) with a fixed number of leapfrog steps.
///
/// # Rule
///
/// A proposal draws z ~ N(0, I) and takes L leapfrog steps of size ε = √h,
///
/// z += ε/2 Sᵀ g(θ); θ += ε S z; z += ε/2 Sᵀ g(θ),
///
/// where g is the gradient of log p(θ|x) and S Sᵀ the inverse mass. It is accepted with probability min(1, exp(H₀ −
/// H₁)), H = −log p(θ|x) + ½ zᵀz. At temperature T the values of the parameters have density p(θ|x)^{1/T}.
///
/// # Source
///
/// Neal (2011), §5.3; Fu, Luo & Zhang (2016), algorithm 1, where exp(E₁ − E₀) is a misprint.
///
/// # Cost
///
/// L full gradients per proposal, and 2L products with S.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `steps` | 10 | number L of leapfrog steps | ≥ 1 |
/// | `jitter` | 0 | half-width of the uniform distribution of L, as a share of `steps`; avoids periodic trajectories | [0, 1) |
/// | `covariance` | identity | inverse mass S Sᵀ, an approximation of the posterior covariance | positive definite |
/// | `adapt` | `None` | step-size adaptation | |
/// | `warm_up` | `None` | adaptation of step size and mass, in place of `adapt`; begins with `covariance` | |
///
/// The step size is h = ε², as in all algorithms of the library: ε = 0.1 in the literature is `0.1 * 0.1` here.
///
/// Statistics with every draw: `acceptance_rate`, `diverging`, `energy`, `n_steps`, `step_size` (ε).
///
/// # Bias
///
/// None.
///
/// # When to use it
///
/// If the full gradient is affordable. A [`WarmUp`] finds step size and mass. [`Qnhmc`](super::Qnhmc) finds the mass
/// from gradients, and `Nuts` (feature `nuts`) also the number of steps.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Hmc;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let dynamics = Hmc { steps: 5, jitter: 0.4, ..Hmc::default() };
/// let fit = hmc(&model, &Dataset::none(), 0.25).dynamics(dynamics).seed(1).sample(&zeros([1]), 500)?;
/// assert!((fit.summary().rows()[0].sd - 1.0).abs() < 0.3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
///
/// With a warm-up the step size of the run is only a first guess:
///
/// ```
/// use sgmcmc::algorithms::{Hmc, WarmUp};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.005);
/// let dynamics = Hmc { jitter: 0.5, warm_up: Some(WarmUp::diagonal(300)), ..Hmc::default() };
/// let fit = hmc(&model, &Dataset::none(), 1e-6).dynamics(dynamics).seed(1).sample(&zeros([1]), 500)?;
/// assert!((fit.summary().rows()[0].sd - 10.0).abs() < 3.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hmc {
    /// The number L of leapfrog steps.
    pub steps: u32,
    /// The half-width of the uniform distribution of the number of steps, as a share of `steps`.
    pub jitter: f64,
    /// The inverse mass, an approximation of the posterior covariance.
    pub covariance: Covariance,
    /// Step-size adaptation; `None` disables it.
    pub adapt: Option<DualAveraging>,
    /// Adaptation of step size and mass; `None` disables it.
    pub warm_up: Option<WarmUp>,
}

impl Default for Hmc {
    fn default() -> Self {
        Self { steps: 10, jitter: 0.0, covariance: Covariance::IDENTITY, adapt: None, warm_up: None }
    }
}

/// The position of the chain, the adaptation and the result of the last proposal.
// Renamed fields have their old names in checkpoints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    #[serde(rename = "scale")]
    adaptation: StepSizeAdaptation,
    #[serde(rename = "searching")]
    adapting: bool,
    /// Checkpoints without it are those of chains without a warm-up.
    #[serde(default)]
    mass: MassAdaptation,
    last: Transition,
    #[serde(skip)]
    workspace: LeapfrogWorkspace,
}

impl_has_position_of_point!(State);

impl Hmc {
    fn length(&self) -> TrajectoryLength {
        TrajectoryLength { steps: self.steps, jitter: self.jitter }
    }
}

impl<G: ExactGradient> Dynamics<G> for Hmc {
    type State = State;

    fn check(&self) -> Result<()> {
        self.length().check()?;
        WarmUp::check(self.adapt, self.warm_up)
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        self.covariance.check_dim(theta.len())?;
        let mut workspace = LeapfrogWorkspace::default();
        workspace.prepare(theta.len(), context, StepSizeAdaptation::default())?;
        let point = Point::evaluate(theta, oracle)?;
        Ok(State {
            point,
            adaptation: StepSizeAdaptation::default(),
            adapting: false,
            mass: MassAdaptation::default(),
            last: Transition::default(),
            workspace,
        })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        state.point.retemper(from, oracle)
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, adaptation, adapting, mass, last, workspace } = state;
        let (length, dim) = (self.length(), point.theta.len());
        if mass.needs_step_size(self.warm_up, *adaptation) {
            let mass_root = &mut mass.mass(&self.covariance, dim)?;
            let leapfrog = Leapfrog { mass_root, length, adaptation: *adaptation };
            let found = leapfrog.find_step_size(point, context, workspace, oracle)?;
            mass.start(adaptation, found);
        }
        let mass_root = &mut mass.mass(&self.covariance, dim)?;
        let mut leapfrog = Leapfrog { mass_root, length, adaptation: *adaptation };
        *last = leapfrog.propose(point, context, workspace, oracle, |_| ())?;
        let adapt = mass.dual_averaging(self.adapt, self.warm_up);
        *adapting = adaptation.is_adapting(adapt);
        adaptation.update(adapt, last.acceptance_rate);
        if let Some(warm_up) = self.warm_up.filter(|_| *adapting) {
            mass.update(warm_up, &point.theta, context, adaptation);
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
        !state.adapting
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Transition::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.last.write(out);
    }
}
