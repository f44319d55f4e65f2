//! Stochastic gradient Hamiltonian Monte Carlo. Per iteration ν ~ N(0, hT), then L times:
//! θ += ν; ν ← (1−α) ν + h ĝ(θ) + N(0, 2(α − β̂) h T).
//!
//! Source: Chen, Fox & Guestrin (2014); Baker (2019), §4.3.2. Cost: L gradient estimates per iteration, each on a new minibatch.
//! Every parameter may have its own α. β̂ is an estimate of what the noise of the gradient already contributes: h² V = 2 β̂ h with V the variance of ĝ, so β̂ = hV/2.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, GradientEstimator, GradientNoise, Oracle, Result};

use super::{drift, frictions, refresh};
use crate::dynamics::{Dynamics, positioned, with_normals};
use crate::per_parameter::PerParameter;
use crate::step_size::{Piece, Tick};

/// What is known of the noise of the gradient, β̂.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoiseEstimate {
    /// A number for all coordinates; zero as in R.
    Fixed(f64),
    /// hV/2 for each coordinate, at most α, with V the variance of this many estimates where the chain starts.
    Measured {
        /// How many estimates.
        draws: usize,
    },
}

/// Stochastic gradient Hamiltonian Monte Carlo.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.01 | friction α, for all parameters or by name | (0, 1] |
/// | `steps` | 5 | inner steps L | ≥ 1 |
/// | `noise` | 0 | the gradient's own noise β̂ | from 0 to the least α |
#[derive(Clone, Debug, PartialEq)]
pub struct Sghmc {
    /// Friction α: a number by `into`, or one for each parameter.
    pub alpha: PerParameter<f64>,
    /// Inner steps L.
    pub steps: u32,
    /// The gradient's own noise β̂.
    pub noise: NoiseEstimate,
}

impl Default for Sghmc {
    fn default() -> Self {
        Self { alpha: 0.01.into(), steps: 5, noise: NoiseEstimate::Fixed(0.0) }
    }
}

/// θ, ν, and what α and β̂ are where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    velocity: Vec<f64>,
    /// α of successive ranges of coordinates.
    frictions: Vec<(Range<usize>, f64)>,
    /// β̂ of each coordinate, where it was measured.
    measured: Vec<f64>,
    #[serde(skip)]
    g: Vec<f64>,
}

positioned!(State);

/// The seed of the estimates that measure the gradient's noise: they are no part of the chain's own randomness.
const NOISE_SEED: u64 = 0;

impl<G: GradientEstimator> Dynamics<G> for Sghmc {
    type State = State;

    fn check(&self) -> Result<()> {
        frictions("the friction alpha", &self.alpha)?;
        if self.steps == 0 {
            let expected = "take at least 1 inner step";
            return Err(Error::Setting { name: "the number of inner steps", value: "0".into(), expected });
        }
        match self.noise {
            NoiseEstimate::Fixed(beta) if !self.alpha.values().all(|alpha| (0.0..=*alpha).contains(&beta)) => {
                let (value, expected) = (beta.to_string(), "it must be between 0 and alpha");
                Err(Error::Setting { name: "the noise estimate", value, expected })
            }
            _ => Ok(()),
        }
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let places = self.alpha.places(oracle.layout())?.into_iter();
        let frictions: Vec<_> = places.map(|(range, alpha)| (range, *alpha)).collect();
        let mut measured = Vec::new();
        if let NoiseEstimate::Measured { draws } = self.noise {
            let (estimator, evaluator) = oracle.parts();
            let noise = GradientNoise::measure(estimator, evaluator, theta, draws, NOISE_SEED)?;
            measured.extend_from_slice(noise.variance());
            for (range, alpha) in &frictions {
                for piece in tick.within(range.clone()) {
                    measured[piece.range].iter_mut().for_each(|v| *v = (0.5 * piece.h * *v).min(*alpha));
                }
            }
        }
        Ok(State { theta: theta.to_vec(), velocity: vec![0.0; theta.len()], frictions, measured, g: Vec::new() })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, velocity, frictions, measured, g } = state;
        g.resize(theta.len(), 0.0);
        refresh(velocity, tick, oracle.noise());
        let mut log_posterior = f64::NAN;
        for _ in 0..self.steps {
            drift(theta, velocity, 1.0);
            log_posterior = oracle.fresh(theta, g)?;
            let rng = oracle.noise();
            let pieces = frictions.iter().flat_map(|(range, alpha)| tick.within(range.clone()).map(|p| (p, *alpha)));
            for (Piece { range, h }, alpha) in pieces {
                let heat = 2.0 * h * tick.temperature;
                with_normals(rng, range, |range, z| {
                    let moved = velocity[range.clone()].iter_mut().zip(&g[range.clone()]).zip(z);
                    match self.noise {
                        NoiseEstimate::Fixed(beta) => {
                            let sd = (heat * (alpha - beta)).sqrt();
                            moved.for_each(|((v, g), z)| *v = (1.0 - alpha) * *v + h * g + sd * z);
                        }
                        NoiseEstimate::Measured { .. } => {
                            moved.zip(&measured[range]).for_each(|(((v, g), z), beta)| {
                                *v = (1.0 - alpha) * *v + h * g + (heat * (alpha - beta)).sqrt() * z;
                            })
                        }
                    }
                });
            }
        }
        Ok(log_posterior)
    }
}
