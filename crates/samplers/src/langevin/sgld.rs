//! Stochastic gradient Langevin dynamics: θ += h/2 ĝ(θ) + √(hT) z.
//!
//! Source: Welling & Teh (2011), eq. (4). Cost: one gradient estimate per step. With the full gradient this is the unadjusted
//! Langevin algorithm (ULA). With constant h the chain samples from the posterior up to O(h); with decreasing h draws carry the
//! weight h (eq. (11)).

use serde::{Deserialize, Serialize};
use sgmcmc_core::{GradientEstimator, Oracle, Result};

use crate::dynamics::{Dynamics, positioned, with_normals};
use crate::law::Direction;
use crate::step_size::Tick;

/// Stochastic gradient Langevin dynamics. It has no settings but the step size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sgld;

/// θ, and room for the gradient.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    g: Vec<f64>,
}

positioned!(State);

impl State {
    pub(super) fn at(theta: &[f64]) -> Self {
        Self { theta: theta.to_vec(), g: Vec::new() }
    }

    /// One step of Langevin dynamics at temperature `temperature`.
    pub(super) fn langevin<G: GradientEstimator>(
        &mut self,
        tick: Tick<'_>,
        temperature: f64,
        oracle: &mut Oracle<G>,
    ) -> Result<f64> {
        let Self { theta, g } = self;
        g.resize(theta.len(), 0.0);
        let log_posterior = oracle.fresh(theta, g)?;
        let rng = oracle.noise();
        for piece in tick.pieces {
            let (half_h, sd) = (0.5 * piece.h, (piece.h * temperature).sqrt());
            with_normals(rng, piece.range.clone(), |range, z| {
                for ((theta, g), z) in theta[range.clone()].iter_mut().zip(&g[range]).zip(z) {
                    *theta += half_h * g + sd * z;
                }
            });
        }
        Ok(log_posterior)
    }
}

impl<G: GradientEstimator> Dynamics<G> for Sgld {
    type State = State;

    fn init(&self, theta: &[f64], _tick: Tick<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        Ok(State::at(theta))
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        state.langevin(tick, tick.temperature, oracle)
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}
