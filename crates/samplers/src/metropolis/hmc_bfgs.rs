//! Ensemble quasi-Newton HMC: see [`HmcBfgs`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{ExactGradient, Layout, Oracle, Result, settings};
use sgmcmc_numerics::{InitialScale, Lbfgs};

use super::mass_root::MassRoot;
use super::point::Point;
use super::proposal::{Leapfrog, LeapfrogWorkspace, TrajectoryLength, Transition};
use super::step::{DualAveraging, StepSizeAdaptation};
use crate::dynamics::{Dynamics, HasPosition};
use crate::step_size::StepContext;

/// HMC-BFGS: an ensemble of K chains, each moved by HMC with a mass matrix that L-BFGS builds from the other chains.
///
/// # Rule
///
/// One iteration moves the chain that has not moved for the longest time. Let x₁, …, x_{K−1} be the other chains, in
/// the order of their last moves. The pairs s = x_{i+1} − x_i, y = ∇U(x_{i+1}) − ∇U(x_i) define the L-BFGS matrix H = S
/// Sᵀ, which approximates the inverse Hessian of U = −log p(θ|x). The proposal is that of [`Hmc`](super::Hmc) with
/// inverse mass H. The new position of the chain is the draw.
///
/// The algorithm interleaves K Markov chains. [`Builder::sample`](crate::Builder::sample) records every run as K
/// chains: `chains(4)` with the default K = 5 gives a fit of 20 chains, numbered run by run. All K chains start at the
/// same point and separate by their own noise; until they do, the mass is the identity over γ. For a chain stepped by
/// hand, see [`Sampler::interleaved_chains`](crate::Sampler::interleaved_chains).
///
/// # Source
///
/// Zhang & Sutton (2011).
///
/// # Cost
///
/// L full gradients per iteration, and O(KLd) operations for the products with S.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `chains` | 5 | number K of chains of the ensemble | ≥ 3 |
/// | `steps` | 10 | number L of leapfrog steps | ≥ 1 |
/// | `jitter` | 0 | half-width of the uniform distribution of L, as a share of `steps` | [0, 1) |
/// | `gamma` | 1 | scale γ of the initial matrix γI, in the unit of a variance | > 0 |
/// | `adapt` | `None` | step-size adaptation | |
///
/// The step size is h = ε². Statistics with every draw: those of [`Hmc`](super::Hmc).
///
/// # Bias
///
/// None. The mass does not depend on the chain that it moves, so the stationary distribution of the ensemble is that of
/// K independent draws, although the adaptation never ends.
///
/// # When to use it
///
/// For correlated posteriors whose curvature varies, where the frozen matrix of [`Qnhmc`](super::Qnhmc) does not fit
/// everywhere.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::HmcBfgs;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square().sum() * -0.5);
/// let dynamics = HmcBfgs { chains: 3, jitter: 0.5, ..HmcBfgs::default() };
/// let fit = hmc(&model, &Dataset::none(), 0.04).dynamics(dynamics).seed(1).sample(&zeros([2]), 300)?;
/// assert_eq!(fit.chains().len(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HmcBfgs {
    /// The number K of chains of the ensemble.
    pub chains: usize,
    /// The number L of leapfrog steps.
    pub steps: u32,
    /// The half-width of the uniform distribution of the number of steps, as a share of `steps`.
    pub jitter: f64,
    /// The scale γ of the initial matrix γI of L-BFGS.
    pub gamma: f64,
    /// Step-size adaptation; `None` disables it.
    pub adapt: Option<DualAveraging>,
}

impl Default for HmcBfgs {
    fn default() -> Self {
        Self { chains: 5, steps: 10, jitter: 0.0, gamma: 1.0, adapt: None }
    }
}

/// The root S of the inverse mass that the other chains define.
struct EnsembleMass<'a>(&'a mut Lbfgs);

impl MassRoot for EnsembleMass<'_> {
    fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        self.0.root_product(out);
    }

    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        self.0.root_transpose_product(out);
    }
}

/// The positions of the chains, the index of the last one moved, the step-size adaptation and the result of the last
/// proposal.
// Renamed fields have their old names in checkpoints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    chains: Vec<Point>,
    current: usize,
    #[serde(rename = "scale")]
    adaptation: StepSizeAdaptation,
    #[serde(rename = "searching")]
    adapting: bool,
    last: Transition,
    #[serde(skip)]
    workspace: LeapfrogWorkspace,
}

impl HasPosition for State {
    fn position(&self) -> &[f64] {
        &self.chains[self.current].theta
    }

    fn position_mut(&mut self) -> &mut [f64] {
        &mut self.chains[self.current].theta
    }
}

impl HmcBfgs {
    fn length(&self) -> TrajectoryLength {
        TrajectoryLength { steps: self.steps, jitter: self.jitter }
    }

    /// Builds the L-BFGS matrix of all chains except `moving`, in the order of their last moves.
    fn metric(&self, chains: &[Point], moving: usize, temperature: f64) -> Lbfgs {
        let d = chains[moving].theta.len();
        let mut pairs = Lbfgs::new(d, self.chains - 2, InitialScale::Fixed(self.gamma));
        let other = |age: usize| &chains[(moving + age) % self.chains];
        let (mut s, mut y) = (vec![0.0; d], vec![0.0; d]);
        for age in 1..self.chains - 1 {
            let (old, new) = (other(age), other(age + 1));
            for i in 0..d {
                s[i] = new.theta[i] - old.theta[i];
                y[i] = (old.g[i] - new.g[i]) / temperature;
            }
            pairs.push(&s, &y);
        }
        pairs
    }
}

impl<G: ExactGradient> Dynamics<G> for HmcBfgs {
    type State = State;

    fn check(&self) -> Result<()> {
        self.length().check()?;
        let expected = "the metric needs 2 other chains: use at least 3";
        settings::at_least("the number of chains of the ensemble", self.chains, 3, expected)?;
        settings::positive("gamma", self.gamma)?;
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let mut workspace = LeapfrogWorkspace::default();
        workspace.prepare(theta.len(), context, StepSizeAdaptation::default())?;
        let chains = vec![Point::evaluate(theta, oracle)?; self.chains];
        let (adaptation, last) = (StepSizeAdaptation::default(), Transition::default());
        Ok(State { chains, current: 0, adaptation, adapting: false, last, workspace })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.chains[state.current].relocate(theta, oracle)
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        state.chains.iter_mut().try_for_each(|point| point.retemper(from, oracle))
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { chains, current, adaptation, adapting, last, workspace } = state;
        let moving = (*current + 1) % self.chains;
        let mut pairs = self.metric(chains, moving, context.temperature);
        let mut mass_root = EnsembleMass(&mut pairs);
        let mut leapfrog = Leapfrog { mass_root: &mut mass_root, length: self.length(), adaptation: *adaptation };
        *last = leapfrog.propose(&mut chains[moving], context, workspace, oracle, |_| ())?;
        *current = moving;
        *adapting = adaptation.is_adapting(self.adapt);
        adaptation.update(self.adapt, last.acceptance_rate);
        Ok(chains[moving].log_posterior)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    /// Applies the root of the initial matrix γI.
    fn apply_root(&self, _state: &mut State, v: &mut [f64], _transpose: bool) -> Result<()> {
        v.iter_mut().for_each(|v| *v *= self.gamma.sqrt());
        Ok(())
    }

    fn interleaved_chains(&self) -> usize {
        self.chains
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
