//! Hamiltonian Monte Carlo: a trajectory of L leapfrog steps of size ε = √h from a fresh momentum, accepted or rejected.
//!
//! Source: Neal (2011); Fu, Luo & Zhang (2016), algorithm 1. Cost: L gradients per proposal. The rule is in
//! [`proposal`](super::proposal); M, here the inverse of the mass, is the guess of the posterior covariance. At temperature T the
//! target is p(θ|x)^{1/T}.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{ExactGradient, Layout, Oracle, Result};

use super::covariance::Covariance;
use super::point::{Point, at_point};
use super::proposal::{Leapfrog, Length, Room, Transition};
use super::step::{DualAveraging, Scale};
use crate::dynamics::Dynamics;
use crate::step_size::Tick;

/// Hamiltonian Monte Carlo. Its step size is h = ε², as in the whole library: what books call ε = 0.1 is `0.1 * 0.1` here.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `steps` | 10 | leapfrog steps L | ≥ 1 |
/// | `jitter` | 0 | L is uniform within this share of `steps`, against periodic trajectories | [0, 1) |
/// | `covariance` | the identity | the inverse M of the mass | positive definite |
/// | `adapt` | – | look for the step size first | |
///
/// Statistics with every draw: `acceptance_rate`, `diverging`, `energy`, `n_steps`, `step_size` (ε).
#[derive(Clone, Debug, PartialEq)]
pub struct Hmc {
    /// Leapfrog steps L.
    pub steps: u32,
    /// How far the number of steps varies, as a share of it.
    pub jitter: f64,
    /// The inverse of the mass.
    pub covariance: Covariance,
    /// How the step size is looked for; not at all if there is none.
    pub adapt: Option<DualAveraging>,
}

impl Default for Hmc {
    fn default() -> Self {
        Self { steps: 10, jitter: 0.0, covariance: Covariance::UNIT, adapt: None }
    }
}

/// Where the chain is, the search for the step size, and how the last proposal went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    scale: Scale,
    searching: bool,
    last: Transition,
    #[serde(skip)]
    room: Room,
}

at_point!(State);

impl Hmc {
    fn length(&self) -> Length {
        Length { steps: self.steps, jitter: self.jitter }
    }
}

impl<G: ExactGradient> Dynamics<G> for Hmc {
    type State = State;

    fn check(&self) -> Result<()> {
        self.length().check()?;
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        self.covariance.check_dim(theta.len())?;
        let mut room = Room::default();
        room.prepare(theta.len(), tick, Scale::default())?;
        let point = Point::at(theta, oracle)?;
        Ok(State { point, scale: Scale::default(), searching: false, last: Transition::default(), room })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, scale, searching, last, room } = state;
        let mut leapfrog = Leapfrog { scaling: &mut &self.covariance, length: self.length(), scale: *scale };
        *last = leapfrog.propose(point, tick, room, oracle, |_| ())?;
        *searching = scale.is_searching(self.adapt);
        scale.learn(self.adapt, last.acceptance_rate);
        Ok(point.log_posterior)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_preconditioned(&self) -> bool {
        self.covariance != Covariance::UNIT
    }

    fn apply_root(&self, _state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        self.covariance.apply_root(v, transpose);
        Ok(())
    }

    fn counts(&self, state: &State) -> bool {
        !state.searching
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Transition::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.last.write(out);
    }
}
