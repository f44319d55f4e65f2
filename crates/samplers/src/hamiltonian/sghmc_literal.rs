//! SGHMC exactly as published, for comparison: see [`LiteralSghmc`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Layout, Oracle, Result, settings};

use super::{drift, friction, renew};
use crate::dynamics::{Dynamics, impl_has_position, with_normals};
use crate::law::{Direction, LinearStep};
use crate::step_size::{StepBlock, StepContext};

/// The publication whose rule [`LiteralSghmc`] implements.
///
/// # Examples
///
/// See [`LiteralSghmc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SghmcSource {
    /// Baker (2019), §4.3.2: ν ~ N(0, hT); L times θ += ν, ν ← (1 − α)ν + hĝ(θ) + N(0, 2αhT).
    Thesis,
    /// The R package `sgmcmc`: ν ~ N(0, hT/2); L times ν ← (1 − α)ν + hĝ(θ) + N(0, 2αhT), θ += ν. Parameters are
    /// updated one after another, each with the gradient at the parameters already updated, on the same minibatch.
    RPackage,
}

/// SGHMC exactly as published. **Its distribution does not converge to the posterior as h → 0.**
///
/// # Rule
///
/// See [`SghmcSource`]. Both rules draw a new velocity in each iteration without the half kick that this requires.
///
/// # Source
///
/// Baker (2019), §4.3.2, and the R package `sgmcmc`.
///
/// # Cost
///
/// L gradient estimates per iteration. [`SghmcSource::RPackage`] evaluates one gradient per parameter in each inner
/// step.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `source` | – | the published rule | |
/// | `alpha` | 0.01 | friction α per inner step, without unit | (0, 1] |
/// | `steps` | 5 | number L of inner steps per iteration | ≥ 2 for the thesis, ≥ 1 for R |
///
/// # Bias
///
/// On a normal posterior with the exact gradient and the default settings (α = 0.01, L = 5) the variance converges to
/// 1.24 times the exact one for [`SghmcSource::Thesis`] (1.99 times at L = 2; it grows without bound at L = 1) and to
/// 0.43 times the exact one for [`SghmcSource::RPackage`].
///
/// # When to use it
///
/// Only for comparison with published results and with R. [`Sghmc`](super::Sghmc) is correct and costs the same.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{LiteralSghmc, SghmcSource};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let dynamics = LiteralSghmc::new(SghmcSource::RPackage);
/// assert_eq!((dynamics.alpha, dynamics.steps), (0.01, 5));
/// let fit = ula(&model, &Dataset::none(), 0.01).dynamics(dynamics).sample(&zeros([1]), 100)?;
/// assert_eq!(fit.chains()[0].len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiteralSghmc {
    /// The published rule.
    pub source: SghmcSource,
    /// The friction α per inner step.
    pub alpha: f64,
    /// The number L of inner steps per iteration.
    pub steps: u32,
}

impl LiteralSghmc {
    /// Creates the rule of `source` with its defaults, α = 0.01 and L = 5.
    pub fn new(source: SghmcSource) -> Self {
        Self { source, alpha: 0.01, steps: 5 }
    }

    /// Returns the variance of the refreshed velocity over h.
    fn refreshed(&self, temperature: f64) -> f64 {
        match self.source {
            SghmcSource::Thesis => temperature,
            SghmcSource::RPackage => 0.5 * temperature,
        }
    }

    /// Updates the velocity of the coordinates of `block`: ν ← (1 − α)ν + hĝ + N(0, 2αhT).
    fn advance_velocity<G: GradientEstimator>(
        &self,
        state: &mut State,
        block: StepBlock,
        temperature: f64,
        oracle: &mut Oracle<G>,
    ) {
        let State { velocity, g, .. } = state;
        let (h, kept) = (block.h, 1.0 - self.alpha);
        let sd = (2.0 * self.alpha * h * temperature).sqrt();
        with_normals(oracle.noise(), block.range, |range, z| {
            let moved = velocity[range.clone()].iter_mut().zip(&g[range]).zip(z);
            moved.for_each(|((v, g), z)| *v = kept * *v + h * g + sd * z);
        });
    }
}

/// The position θ and the buffers of an iteration.
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

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for LiteralSghmc {
    type State = State;

    fn check(&self) -> Result<()> {
        friction("the friction alpha", self.alpha)?;
        let least = if self.source == SghmcSource::Thesis { 2 } else { 1 };
        let expected = "the thesis needs at least 2 inner steps (with 1 no gradient is used), R at least 1";
        settings::at_least("the number of inner steps", self.steps, least, expected)?;
        Ok(())
    }

    fn init(&self, theta: &[f64], _context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let work = vec![0.0; theta.len()];
        Ok(State { theta: theta.to_vec(), velocity: work.clone(), g: work, layout: Some(oracle.layout().clone()) })
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let dim = state.theta.len();
        state.velocity.resize(dim, 0.0);
        state.g.resize(dim, 0.0);
        for block in context.blocks {
            let sd = (block.h * self.refreshed(context.temperature)).sqrt();
            renew(&mut state.velocity, block.range.clone(), 0.0, sd, oracle.noise());
        }
        let mut log_posterior = f64::NAN;
        for _ in 0..self.steps {
            match self.source {
                SghmcSource::Thesis => {
                    drift(&mut state.theta, &state.velocity, 1.0);
                    log_posterior = oracle.gradient(&state.theta, &mut state.g)?;
                    for block in context.blocks {
                        self.advance_velocity(state, block.clone(), context.temperature, oracle);
                    }
                }
                SghmcSource::RPackage => {
                    let layout = state.layout.take().unwrap_or_else(|| oracle.layout().clone());
                    for (index, block) in layout.blocks().iter().enumerate() {
                        let State { theta, g, .. } = &mut *state;
                        log_posterior = if index == 0 {
                            oracle.gradient(theta, g)?
                        } else {
                            oracle.gradient_same_batch(theta, g)?
                        };
                        for step_block in context.within(block.range.clone()) {
                            self.advance_velocity(state, step_block, context.temperature, oracle);
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
        let start = LinearStep::new(direction).refresh(self.refreshed(t));
        let chain = (0..self.steps).fold(start, |chain, _| match self.source {
            SghmcSource::Thesis => chain.drift(1.0).damp(kept, heat).kick(1.0),
            SghmcSource::RPackage => chain.damp(kept, heat).kick(1.0).drift(1.0),
        });
        Some(chain.variance_ratio(t))
    }
}
