//! BAOAB: underdamped Langevin dynamics by symmetric splitting. One step:
//!
//! B: ν += h/2 ĝ; A: θ += ν/2; O: ν ← e^{−α} ν + N(0, (1 − e^{−2α}) h T); A: θ += ν/2; B: ν += h/2 ĝ at the new θ.
//!
//! Source: Leimkuhler & Matthews (2013). Cost: one gradient estimate per step, used by the last B of one step and the first of the next.
//! With the exact gradient of a Gaussian the positions have exactly the right variance.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{GradientEstimator, Oracle, Result};

use super::{drift, friction, kick, refresh, renew, rescale};
use crate::dynamics::{Dynamics, positioned};
use crate::law::{Direction, Linear};
use crate::step_size::Tick;

/// BAOAB splitting of underdamped Langevin dynamics.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.1 | friction per step α | > 0 |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baoab {
    /// Friction per step α.
    pub alpha: f64,
}

impl Default for Baoab {
    fn default() -> Self {
        Self { alpha: 0.1 }
    }
}

/// θ, ν and the last ĝ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    velocity: Vec<f64>,
    g: Vec<f64>,
}

positioned!(State);

impl<G: GradientEstimator> Dynamics<G> for Baoab {
    type State = State;

    fn check(&self) -> Result<()> {
        friction("the friction alpha", self.alpha, f64::INFINITY)
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let (mut velocity, mut g) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        refresh(&mut velocity, tick, oracle.noise());
        oracle.fresh(theta, &mut g)?;
        Ok(State { theta: theta.to_vec(), velocity, g })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.theta.copy_from_slice(theta);
        // The next step begins with the gradient where the chain now is.
        oracle.fresh(&state.theta, &mut state.g)?;
        Ok(())
    }

    fn step(&self, State { theta, velocity, g }: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        rescale(velocity, tick);
        kick(velocity, g, tick, 0.5);
        drift(theta, velocity, 0.5);
        let (kept, renewed) = ((-self.alpha).exp(), -(-2.0 * self.alpha).exp_m1());
        let rng = oracle.noise();
        for piece in tick.pieces {
            let sd = (renewed * piece.h * tick.temperature).sqrt();
            renew(velocity, piece.range.clone(), kept, sd, rng);
        }
        drift(theta, velocity, 0.5);
        let log_posterior = oracle.fresh(theta, g)?;
        kick(velocity, g, tick, 0.5);
        Ok(log_posterior)
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        let t = direction.temperature;
        let (kept, renewed) = ((-self.alpha).exp(), -(-2.0 * self.alpha).exp_m1());
        // Both half kicks at one position use the same minibatch: together they are one kick.
        let step = Linear::new(direction).kick(1.0).drift(0.5).damp(kept, renewed * t).drift(0.5);
        Some(step.variance_ratio(t))
    }
}
