//! A Hamiltonian proposal: leapfrog steps in whitened momenta, then acceptance or rejection.
//!
//! With S Sᵀ the inverse mass and p = S⁻ᵀ z the momentum, z ~ N(0, I) and H(θ, z) = −log p(θ|x)/T + ½ zᵀz. For
//! constrained parameters log p(θ|x) stands for log p(θ|x) + T log |J|, as the [`Oracle`] returns it. Each step is z +=
//! ½ Sᵀ(ε∘g(θ))/T; θ += ε∘(S z); z += ½ Sᵀ(ε∘g(θ))/T. The end is accepted with probability min(1, exp(H₀ − H₁)).
//!
//! Source: Neal (2011), §5.3; Fu, Luo & Zhang (2016), algorithm 1, where exp(E₁ − E₀) is a misprint.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ExactGradient, Oracle, Result, settings};

use super::mass_root::MassRoot;
use super::point::Point;
use super::step::{StepSizeAdaptation, epsilons};
use crate::dynamics::with_normals;
use crate::step_size::StepContext;

/// The increase of the energy beyond which a trajectory counts as divergent, as in Stan.
const DIVERGENCE: f64 = 1000.0;

/// The acceptance rate at which the search for an initial step size ends, as in Stan.
const ACCEPTANCE_OF_SEARCH: f64 = 0.8;

/// The largest number of times that the search for an initial step size doubles or halves it.
const LENGTH_OF_SEARCH: u32 = 50;

/// The number of leapfrog steps of a proposal.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrajectoryLength {
    /// The mean number of steps.
    pub(super) steps: u32,
    /// The half-width of the uniform distribution of the number of steps, as a share of `steps`.
    pub(super) jitter: f64,
}

impl TrajectoryLength {
    /// A single step.
    pub(super) const ONE: Self = Self { steps: 1, jitter: 0.0 };

    /// Checks the settings.
    pub(super) fn check(self) -> Result<()> {
        settings::at_least("the number of leapfrog steps", self.steps, 1, "take at least 1 leapfrog step")?;
        let expected = "it must be at least 0 and below 1";
        settings::within("the jitter of the number of leapfrog steps", self.jitter, 0.0..1.0, expected)?;
        Ok(())
    }

    /// Draws a number of steps, uniform within `jitter` of `steps`. Does not use the generator without jitter.
    fn draw(self, rng: &mut StreamRng) -> u32 {
        if self.jitter <= 0.0 {
            return self.steps;
        }
        let reach = (self.jitter * f64::from(self.steps)).round() as u32;
        rng.random_range(self.steps.saturating_sub(reach).max(1)..=self.steps.saturating_add(reach))
    }
}

/// The result of a proposal.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Transition {
    pub(super) accepted: bool,
    /// The probability of acceptance.
    pub(super) acceptance_rate: f64,
    diverging: bool,
    /// The energy H at the position of the chain after the proposal.
    energy: f64,
    n_steps: u32,
    step_size: f64,
}

impl Transition {
    /// Returns the names of the statistics, as in ArviZ.
    pub(super) fn names() -> Vec<String> {
        ["acceptance_rate", "diverging", "energy", "n_steps", "step_size"].map(String::from).to_vec()
    }

    /// Writes the statistics into `out`.
    pub(super) fn write(&self, out: &mut [f64]) {
        let diverging = f64::from(u8::from(self.diverging));
        let numbers = [self.acceptance_rate, diverging, self.energy, f64::from(self.n_steps), self.step_size];
        out.iter_mut().zip(numbers).for_each(|(out, number)| *out = number);
    }
}

/// The decision about a proposal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Acceptance {
    pub(super) accepted: bool,
    /// The probability of acceptance.
    pub(super) rate: f64,
}

/// Accepts a proposal with probability min(1, exp(`log_ratio`)). NaN is rejected.
pub(super) fn accept(log_ratio: f64, rng: &mut StreamRng) -> Acceptance {
    let rate = if log_ratio.is_nan() { 0.0 } else { log_ratio.exp().min(1.0) };
    Acceptance { accepted: rng.random::<f64>() < rate, rate }
}

/// Draws z ~ N(0, I).
pub(super) fn standard_normal(z: &mut [f64], rng: &mut StreamRng) {
    with_normals(rng, 0..z.len(), |range, normals| z[range].copy_from_slice(normals));
}

/// Returns the kinetic energy ½ zᵀz.
pub(super) fn kinetic(z: &[f64]) -> f64 {
    0.5 * z.iter().map(|z| z * z).sum::<f64>()
}

/// The buffers of a proposal.
#[derive(Clone, Debug, Default)]
pub(super) struct LeapfrogWorkspace {
    /// The end of the trajectory so far.
    pub(super) end: Point,
    /// The whitened momentum.
    pub(super) z: Vec<f64>,
    /// The step of each coordinate.
    pub(super) epsilon: Vec<f64>,
    pub(super) force: Vec<f64>,
    pub(super) product: Vec<f64>,
}

impl LeapfrogWorkspace {
    /// Resizes the buffers to `d` coordinates and computes their steps ε.
    pub(super) fn prepare(&mut self, d: usize, context: StepContext<'_>, adaptation: StepSizeAdaptation) -> Result<()> {
        for buffer in [&mut self.z, &mut self.epsilon, &mut self.force, &mut self.product] {
            buffer.resize(d, 0.0);
        }
        epsilons(context, adaptation, &mut self.epsilon)
    }

    /// Updates the momentum: z += share · Sᵀ(ε∘g)/T, with g at the end of the trajectory so far.
    pub(super) fn kick(&mut self, mass_root: &mut impl MassRoot, temperature: f64, share: f64) {
        let Self { end, z, epsilon, force, product } = self;
        let pairs = epsilon.iter().zip(&end.g);
        force.iter_mut().zip(pairs).for_each(|(force, (epsilon, g))| *force = epsilon * g / temperature);
        mass_root.multiply_transposed(force, product);
        z.iter_mut().zip(product).for_each(|(z, product)| *z += share * *product);
    }

    /// Updates the position: θ += ε∘(S z).
    pub(super) fn drift(&mut self, mass_root: &mut impl MassRoot) {
        let Self { end, z, epsilon, product, .. } = self;
        mass_root.multiply(z, product);
        let moves = epsilon.iter().zip(product);
        end.theta.iter_mut().zip(moves).for_each(|(theta, (epsilon, product))| *theta += epsilon * *product);
    }

    /// Returns the energy H at the end of the trajectory so far.
    fn energy(&self, temperature: f64) -> f64 {
        kinetic(&self.z) - self.end.log_posterior / temperature
    }

    /// Returns the energy H₁ at the end of a trajectory from `point` with kinetic energy `start`, and H₀ − H₁. H₁ is
    /// infinite if the density is not finite.
    fn end_energy(&self, point: &Point, start: f64, temperature: f64) -> (f64, f64) {
        let after = if self.end.is_finite() { self.energy(temperature) } else { f64::INFINITY };
        // The large terms are subtracted from each other first.
        let gained = (self.end.log_posterior - point.log_posterior) / temperature;
        let log_ratio = if after.is_finite() { gained + start - kinetic(&self.z) } else { f64::NEG_INFINITY };
        (after, log_ratio)
    }
}

/// The leapfrog integrator of a proposal.
pub(super) struct Leapfrog<'a, S> {
    pub(super) mass_root: &'a mut S,
    pub(super) length: TrajectoryLength,
    pub(super) adaptation: StepSizeAdaptation,
}

impl<S: MassRoot> Leapfrog<'_, S> {
    /// Integrates `steps` steps from (`workspace.end`, `workspace.z`) while the density is finite. Returns the number
    /// of steps taken. Calls `visit` with every point of the trajectory.
    pub(super) fn follow<G: ExactGradient>(
        &mut self,
        workspace: &mut LeapfrogWorkspace,
        steps: u32,
        temperature: f64,
        oracle: &mut Oracle<G>,
        mut visit: impl FnMut(&Point),
    ) -> Result<u32> {
        workspace.kick(self.mass_root, temperature, 0.5);
        for step in 1..=steps {
            workspace.drift(self.mass_root);
            workspace.end.update(oracle)?;
            if !workspace.end.is_finite() {
                return Ok(step);
            }
            visit(&workspace.end);
            workspace.kick(self.mass_root, temperature, if step == steps { 0.5 } else { 1.0 });
        }
        Ok(steps)
    }

    /// Proposes the end of a trajectory from `point`. Moves `point` there if the proposal is accepted.
    pub(super) fn propose<G: ExactGradient>(
        &mut self,
        point: &mut Point,
        context: StepContext<'_>,
        workspace: &mut LeapfrogWorkspace,
        oracle: &mut Oracle<G>,
        visit: impl FnMut(&Point),
    ) -> Result<Transition> {
        workspace.prepare(point.theta.len(), context, self.adaptation)?;
        standard_normal(&mut workspace.z, oracle.noise());
        let steps = self.length.draw(oracle.noise());
        workspace.end.clone_from(point);
        let (start, before) = (kinetic(&workspace.z), workspace.energy(context.temperature));
        let n_steps = self.follow(workspace, steps, context.temperature, oracle, visit)?;
        let (after, log_ratio) = workspace.end_energy(point, start, context.temperature);
        let Acceptance { accepted, rate: acceptance_rate } = accept(log_ratio, oracle.noise());
        if accepted {
            std::mem::swap(point, &mut workspace.end);
        }
        Ok(Transition {
            accepted,
            acceptance_rate,
            diverging: after.is_nan() || after - before > DIVERGENCE,
            energy: if accepted { after } else { before },
            n_steps,
            step_size: self.adaptation.scale() * context.h.sqrt(),
        })
    }

    /// Doubles or halves the step size until the acceptance rate of a single leapfrog step from `point` crosses 0.8.
    /// Returns the original step size if that does not happen within a factor of 2⁵⁰, for instance with a flat density.
    ///
    /// Source: Hoffman & Gelman (2014), algorithm 4; rate and new momenta for every trial as in Stan.
    pub(super) fn find_step_size<G: ExactGradient>(
        mut self,
        point: &Point,
        context: StepContext<'_>,
        workspace: &mut LeapfrogWorkspace,
        oracle: &mut Oracle<G>,
    ) -> Result<StepSizeAdaptation> {
        let start = self.adaptation;
        let grows = self.is_accepted_often(point, context, workspace, oracle)?;
        for _ in 0..LENGTH_OF_SEARCH {
            self.adaptation.multiply(if grows { 2.0 } else { 0.5 });
            if self.is_accepted_often(point, context, workspace, oracle)? != grows {
                return Ok(self.adaptation);
            }
        }
        Ok(start)
    }

    /// Returns whether a single leapfrog step from `point` is accepted at a rate above 0.8. Does not move `point`.
    fn is_accepted_often<G: ExactGradient>(
        &mut self,
        point: &Point,
        context: StepContext<'_>,
        workspace: &mut LeapfrogWorkspace,
        oracle: &mut Oracle<G>,
    ) -> Result<bool> {
        workspace.prepare(point.theta.len(), context, self.adaptation)?;
        standard_normal(&mut workspace.z, oracle.noise());
        workspace.end.clone_from(point);
        let start = kinetic(&workspace.z);
        self.follow(workspace, 1, context.temperature, oracle, |_| ())?;
        let (_, log_ratio) = workspace.end_energy(point, start, context.temperature);
        Ok(log_ratio > ACCEPTANCE_OF_SEARCH.ln())
    }
}

#[cfg(test)]
mod tests;
