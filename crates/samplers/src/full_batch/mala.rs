//! The Metropolis-adjusted Langevin algorithm: θ* = θ + h/2 M g(θ) + √h S z with M = S Sᵀ, accepted with probability
//! min(1, p(θ*|x) q(θ|θ*) / (p(θ|x) q(θ*|θ))), q(θ*|θ) the density N(θ*; θ + h/2 M g(θ), h M).
//!
//! Source: Roberts & Tweedie (1996); Baker (2019), §4.2.2. Cost: one gradient per proposal. At temperature T the target is
//! p(θ|x)^{1/T}. q needs no inverse of M: the noise that leads back from θ* is z* = −(z + ½ √h Sᵀ(g(θ) + g(θ*))), and
//! log q(θ|θ*) − log q(θ*|θ) = ½ zᵀz − ½ z*ᵀz*. This is [`Hmc`](super::Hmc) with one leapfrog step, draw for draw.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{ExactGradient, Layout, Oracle, Result};

use super::covariance::Covariance;
use super::outcome::Outcome;
use super::point::{Point, at_point};
use super::proposal::{Room, kinetic, standard_normal};
use super::step::{DualAveraging, Scale};
use crate::dynamics::Dynamics;
use crate::step_size::Tick;

/// The Metropolis-adjusted Langevin algorithm.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `covariance` | the identity | the constant matrix M | positive definite |
/// | `adapt` | – | look for the step size first; an acceptance rate of 0.57 is best in many dimensions | |
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mala {
    /// The constant matrix M.
    pub covariance: Covariance,
    /// How the step size is looked for; not at all if there is none.
    pub adapt: Option<DualAveraging>,
}

/// Where the chain is, the search for the step size, and how the last proposal went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    outcome: Outcome,
    #[serde(skip)]
    room: Room,
}

at_point!(State);

impl<G: ExactGradient> Dynamics<G> for Mala {
    type State = State;

    fn check(&self) -> Result<()> {
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        self.covariance.check_dim(theta.len())?;
        let mut room = Room::default();
        room.prepare(theta.len(), tick, Scale::default())?;
        let point = Point::at(theta, oracle)?;
        Ok(State { point, outcome: Outcome::default(), room })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, outcome, room } = state;
        room.prepare(point.theta.len(), tick, outcome.scale)?;
        standard_normal(&mut room.z, oracle.noise());
        let forward = kinetic(&room.z);
        let scaling = &mut &self.covariance;
        // S takes z + ½ √h Sᵀ g to noise and drift at once.
        room.end.clone_from(point);
        room.kick(scaling, tick.temperature, 0.5);
        room.drift(scaling);
        room.end.evaluate(oracle)?;
        let log_ratio = if room.end.is_finite() {
            // Now −z*, of the same length as z*.
            room.kick(scaling, tick.temperature, 0.5);
            (room.end.log_posterior - point.log_posterior) / tick.temperature + forward - kinetic(&room.z)
        } else {
            f64::NEG_INFINITY
        };
        outcome.decide(self.adapt, log_ratio, (point, &mut room.end), tick, oracle.noise());
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
        !state.outcome.searching
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Outcome::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.outcome.write(out);
    }
}
