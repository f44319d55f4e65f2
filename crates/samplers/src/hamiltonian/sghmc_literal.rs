//! SGHMC by the letter of its sources, for comparison. See [`LiteralSghmc`].

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, GradientEstimator, Layout, Oracle, Result};

use super::{drift, friction, renew};
use crate::dynamics::{Dynamics, positioned, with_normals};
use crate::law::{Direction, Linear};
use crate::step_size::{Piece, Tick};

/// The source whose rule [`LiteralSghmc`] follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SghmcSource {
    /// Baker (2019), §4.3.2: ν ~ N(0, hT); L times θ += ν, ν ← (1 − α)ν + hĝ(θ) + N(0, 2αhT).
    Thesis,
    /// The R package `sgmcmc`: ν ~ N(0, hT/2); L times ν ← (1 − α)ν + hĝ(θ) + N(0, 2αhT), θ += ν. Parameters are updated one after
    /// another, each with the gradient at the parameters already updated, on the same minibatch.
    RPackage,
}

/// SGHMC exactly as its sources print it. **Its law does not tend to the posterior as h → 0.**
///
/// Both rules draw the velocity anew in each iteration without the half kick that this requires. On a normal posterior with the exact
/// gradient and the default settings (α = 0.01, L = 5) the variance tends to 1.24 times the right one for [`SghmcSource::Thesis`] (1.99
/// times at L = 2, and it grows without bound at L = 1) and to 0.43 times the right one for [`SghmcSource::RPackage`]. Use
/// [`Sghmc`](crate::Sghmc), which costs the same; this type serves to compare with published results and with R.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `source` | – | whose rule | |
/// | `alpha` | 0.01 | friction α | (0, 1] |
/// | `steps` | 5 | inner steps L | ≥ 2 for the thesis, ≥ 1 for R |
///
/// # Examples
///
/// ```
/// use sgmcmc_samplers::{LiteralSghmc, SghmcSource};
///
/// let as_in_r = LiteralSghmc::new(SghmcSource::RPackage);
/// assert_eq!((as_in_r.alpha, as_in_r.steps), (0.01, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiteralSghmc {
    /// The source of the rule.
    pub source: SghmcSource,
    /// Friction α.
    pub alpha: f64,
    /// Inner steps L.
    pub steps: u32,
}

impl LiteralSghmc {
    /// Creates the rule of `source` with its defaults, α = 0.01 and L = 5.
    pub fn new(source: SghmcSource) -> Self {
        Self { source, alpha: 0.01, steps: 5 }
    }

    /// The variance of the refreshed velocity over h.
    fn refreshed(&self, temperature: f64) -> f64 {
        match self.source {
            SghmcSource::Thesis => temperature,
            SghmcSource::RPackage => 0.5 * temperature,
        }
    }

    /// ν ← (1 − α)ν + hĝ + N(0, 2αhT) for the coordinates of `piece`.
    fn advance_velocity<G: GradientEstimator>(
        &self,
        state: &mut State,
        piece: Piece,
        temperature: f64,
        oracle: &mut Oracle<G>,
    ) {
        let State { velocity, g, .. } = state;
        let (h, kept) = (piece.h, 1.0 - self.alpha);
        let sd = (2.0 * self.alpha * h * temperature).sqrt();
        with_normals(oracle.noise(), piece.range, |range, z| {
            let moved = velocity[range.clone()].iter_mut().zip(&g[range]).zip(z);
            moved.for_each(|((v, g), z)| *v = kept * *v + h * g + sd * z);
        });
    }
}

/// θ and the work space of an iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    velocity: Vec<f64>,
    #[serde(skip)]
    g: Vec<f64>,
    #[serde(skip)]
    layout: Option<Layout>,
}

positioned!(State);

impl<G: GradientEstimator> Dynamics<G> for LiteralSghmc {
    type State = State;

    fn check(&self) -> Result<()> {
        friction("the friction alpha", self.alpha, 1.0)?;
        let least = if self.source == SghmcSource::Thesis { 2 } else { 1 };
        if self.steps < least {
            let expected = "the thesis needs at least 2 inner steps (with 1 no gradient is used), R at least 1";
            return Err(Error::Setting { name: "the number of inner steps", value: self.steps.to_string(), expected });
        }
        Ok(())
    }

    fn init(&self, theta: &[f64], _tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let work = vec![0.0; theta.len()];
        Ok(State { theta: theta.to_vec(), velocity: work.clone(), g: work, layout: Some(oracle.layout().clone()) })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let dim = state.theta.len();
        state.velocity.resize(dim, 0.0);
        state.g.resize(dim, 0.0);
        for piece in tick.pieces {
            let sd = (piece.h * self.refreshed(tick.temperature)).sqrt();
            renew(&mut state.velocity, piece.range.clone(), 0.0, sd, oracle.noise());
        }
        let mut log_posterior = f64::NAN;
        for _ in 0..self.steps {
            match self.source {
                SghmcSource::Thesis => {
                    drift(&mut state.theta, &state.velocity, 1.0);
                    log_posterior = oracle.fresh(&state.theta, &mut state.g)?;
                    for piece in tick.pieces {
                        self.advance_velocity(state, piece.clone(), tick.temperature, oracle);
                    }
                }
                SghmcSource::RPackage => {
                    let layout = state.layout.take().unwrap_or_else(|| oracle.layout().clone());
                    for (index, block) in layout.blocks().iter().enumerate() {
                        let State { theta, g, .. } = &mut *state;
                        log_posterior = if index == 0 { oracle.fresh(theta, g)? } else { oracle.again(theta, g)? };
                        for piece in tick.within(block.range.clone()) {
                            self.advance_velocity(state, piece, tick.temperature, oracle);
                        }
                        let State { theta, velocity, .. } = &mut *state;
                        drift(&mut theta[block.range.clone()], &velocity[block.range.clone()], 1.0);
                    }
                    state.layout = Some(layout);
                }
            }
        }
        Ok(log_posterior)
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        let (t, kept) = (direction.temperature, 1.0 - self.alpha);
        let heat = 2.0 * self.alpha * t;
        let start = Linear::new(direction).refresh(self.refreshed(t));
        let chain = (0..self.steps).fold(start, |chain, _| match self.source {
            SghmcSource::Thesis => chain.drift(1.0).damp(kept, heat).kick(1.0),
            SghmcSource::RPackage => chain.damp(kept, heat).kick(1.0).drift(1.0),
        });
        Some(chain.variance_ratio(t))
    }
}
