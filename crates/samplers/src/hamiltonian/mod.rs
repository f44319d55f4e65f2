//! Hamiltonian algorithms: dynamics with a velocity ν, parameterized as in the R package.
//!
//! Step sizes and frictions are those of the velocity form: h = ε², ν = ε p, α = ε γ, where ε is the step, p the
//! momentum and γ the friction of the continuous dynamics. Under the posterior ν has variance hT.

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

use std::ops::{Bound, Range};

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Result, settings};

use crate::dynamics::with_normals;
use crate::per_parameter::PerParameter;
use crate::step_size::StepContext;

/// Draws the velocity, ν ~ N(0, hT).
fn refresh(velocity: &mut [f64], context: StepContext<'_>, rng: &mut StreamRng) {
    for block in context.blocks {
        let sd = (block.h * context.temperature).sqrt();
        with_normals(rng, block.range.clone(), |range, z| {
            velocity[range].iter_mut().zip(z).for_each(|(v, z)| *v = sd * z);
        });
    }
}

/// Scales velocities by √(h/h'), so that they keep their temperature when the step size changes.
fn rescale(velocity: &mut [f64], context: StepContext<'_>) {
    for block in context.blocks.iter().filter(|block| block.h.to_bits() != block.previous.to_bits()) {
        let factor = block.velocity_factor();
        velocity[block.range.clone()].iter_mut().for_each(|v| *v *= factor);
    }
}

/// Partially refreshes the velocity in `range`: ν ← kept · ν + sd · z.
fn renew(velocity: &mut [f64], range: Range<usize>, kept: f64, sd: f64, rng: &mut StreamRng) {
    with_normals(rng, range, |range, z| {
        velocity[range].iter_mut().zip(z).for_each(|(v, z)| *v = kept * *v + sd * z);
    });
}

/// Moves the position: θ += share · ν.
fn drift(theta: &mut [f64], velocity: &[f64], share: f64) {
    theta.iter_mut().zip(velocity).for_each(|(theta, v)| *theta += share * v);
}

/// Adds the gradient to the velocity: ν += share · h ĝ.
fn kick(velocity: &mut [f64], g: &[f64], context: StepContext<'_>, share: f64) {
    for block in context.blocks {
        let h = share * block.h;
        velocity[block.range.clone()].iter_mut().zip(&g[block.range.clone()]).for_each(|(v, g)| *v += h * g);
    }
}

/// Checks that `value` is a friction per step, above 0 and at most 1.
fn friction(name: &'static str, value: f64) -> Result<()> {
    let range = (Bound::Excluded(0.0), Bound::Included(1.0));
    settings::within(name, value, range, "it must be above 0 and at most 1").map(|_| ())
}

/// Checks that all of `values` are frictions per step or zero.
fn frictions_or_none(name: &'static str, values: &PerParameter<f64>) -> Result<()> {
    values.values().try_for_each(|value| settings::probability(name, *value).map(|_| ()))
}

/// Checks that all of `values` are frictions per step.
fn frictions(name: &'static str, values: &PerParameter<f64>) -> Result<()> {
    values.values().try_for_each(|value| friction(name, *value))
}
