//! The Hamiltonian family: dynamics with a velocity ν, as in the R package.
//!
//! Step sizes and frictions are those of the velocity form: h = ε², ν = ε p, α = ε γ, where ε is the step, p the momentum and γ
//! the friction of the continuous dynamics. Under the posterior ν has variance hT.

mod badodab;
mod baoab;
mod sghmc;
mod sghmc_literal;
mod sgnht;
mod thermostat;

pub use badodab::Badodab;
pub use baoab::Baoab;
pub use sghmc::{NoiseEstimate, Sghmc};
pub use sghmc_literal::{LiteralSghmc, SghmcSource};
pub use sgnht::Sgnht;
pub use thermostat::Thermostats;

use std::ops::Range;

use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{Error, Result};

use crate::dynamics::with_normals;
use crate::per_parameter::PerParameter;
use crate::step_size::Tick;

/// ν ~ N(0, hT).
fn refresh(velocity: &mut [f64], tick: Tick<'_>, rng: &mut StreamRng) {
    for piece in tick.pieces {
        let sd = (piece.h * tick.temperature).sqrt();
        with_normals(rng, piece.range.clone(), |range, z| {
            velocity[range].iter_mut().zip(z).for_each(|(v, z)| *v = sd * z);
        });
    }
}

/// Scales velocities so that they keep their temperature when the step size has changed: ν ← ν √(h/h').
fn rescale(velocity: &mut [f64], tick: Tick<'_>) {
    for piece in tick.pieces.iter().filter(|piece| piece.h.to_bits() != piece.previous.to_bits()) {
        let factor = piece.velocity_factor();
        velocity[piece.range.clone()].iter_mut().for_each(|v| *v *= factor);
    }
}

/// ν = kept · ν + sd · z within `range`.
fn renew(velocity: &mut [f64], range: Range<usize>, kept: f64, sd: f64, rng: &mut StreamRng) {
    with_normals(rng, range, |range, z| {
        velocity[range].iter_mut().zip(z).for_each(|(v, z)| *v = kept * *v + sd * z);
    });
}

/// θ += share · ν.
fn drift(theta: &mut [f64], velocity: &[f64], share: f64) {
    theta.iter_mut().zip(velocity).for_each(|(theta, v)| *theta += share * v);
}

/// ν += share · h ĝ.
fn kick(velocity: &mut [f64], g: &[f64], tick: Tick<'_>, share: f64) {
    for piece in tick.pieces {
        let h = share * piece.h;
        velocity[piece.range.clone()].iter_mut().zip(&g[piece.range.clone()]).for_each(|(v, g)| *v += h * g);
    }
}

/// An error unless `value` is a friction: positive, and at most `most`.
fn friction(name: &'static str, value: f64, most: f64) -> Result<()> {
    if value > 0.0 && value <= most {
        return Ok(());
    }
    let expected = if most.is_finite() { "it must be above 0 and at most 1" } else { "it must be a positive number" };
    Err(Error::Setting { name, value: value.to_string(), expected })
}

/// Returns an error unless all of `values` are frictions from 0 to 1.
fn frictions_or_none(name: &'static str, values: &PerParameter<f64>) -> Result<()> {
    match values.values().find(|value| !(0.0..=1.0).contains(*value)) {
        None => Ok(()),
        Some(value) => {
            Err(Error::Setting { name, value: value.to_string(), expected: "it must be at least 0 and at most 1" })
        }
    }
}

/// An error unless all of `values` are frictions of at most 1.
fn frictions(name: &'static str, values: &PerParameter<f64>) -> Result<()> {
    values.values().try_for_each(|value| friction(name, *value, 1.0))
}
