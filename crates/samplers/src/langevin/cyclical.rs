//! Cyclical SGLD: SGLD whose step size starts again every cycle, without noise in the first part of each.
//!
//! Source: Zhang et al. (2020), algorithm 1. Use it with the step sizes of
//! [`CyclicalCosine`](crate::schedule::CyclicalCosine) of the same period. In a cycle's exploration stage (the first `exploration`
//! of it) the chain climbs, θ += h/2 ĝ(θ); in its sampling stage it is SGLD, and only there draws count.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, GradientEstimator, Oracle, Result};

use super::sgld;
use crate::dynamics::{Dynamics, Positioned};
use crate::law::Direction;
use crate::step_size::Tick;

/// Cyclical SGLD.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `period` | – | iterations per cycle | ≥ 1 |
/// | `exploration` | 0.25 | the share of a cycle that only climbs | [0, 1) |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclicalSgld {
    /// Iterations per cycle.
    pub period: u64,
    /// The share of a cycle that only climbs.
    pub exploration: f64,
}

impl CyclicalSgld {
    /// Cycles of `period` iterations, a quarter of each for exploration.
    pub fn new(period: u64) -> Self {
        Self { period, exploration: 0.25 }
    }

    /// Whether iteration `t` is in the sampling stage of its cycle.
    pub fn samples_at(&self, t: u64) -> bool {
        (t % self.period.max(1)) as f64 >= self.exploration * self.period as f64
    }
}

/// The state of SGLD, and whether the last step was in a sampling stage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    chain: sgld::State,
    sampling: bool,
}

impl Positioned for State {
    fn position(&self) -> &[f64] {
        self.chain.position()
    }

    fn position_mut(&mut self) -> &mut [f64] {
        self.chain.position_mut()
    }
}

impl<G: GradientEstimator> Dynamics<G> for CyclicalSgld {
    type State = State;

    fn check(&self) -> Result<()> {
        if self.period == 0 {
            let expected = "a cycle has at least 1 iteration";
            return Err(Error::Setting { name: "the period of the cycles", value: "0".into(), expected });
        }
        if !(0.0..1.0).contains(&self.exploration) {
            let (value, expected) = (self.exploration.to_string(), "it must be at least 0 and below 1");
            return Err(Error::Setting { name: "the share of exploration", value, expected });
        }
        Ok(())
    }

    fn init(&self, theta: &[f64], _tick: Tick<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        Ok(State { chain: sgld::State::at(theta), sampling: false })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        state.sampling = self.samples_at(tick.t);
        let temperature = if state.sampling { tick.temperature } else { 0.0 };
        state.chain.langevin(tick, temperature, oracle)
    }

    fn counts(&self, state: &State) -> bool {
        state.sampling
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}
