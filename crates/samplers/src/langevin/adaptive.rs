//! SGLD with an adaptive step size: see [`AdaptiveSgld`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Oracle, Result, settings};
use sgmcmc_numerics::vector::dot;

use crate::dynamics::{Dynamics, impl_has_position, with_normals};
use crate::law::Direction;
use crate::step_size::StepContext;

/// SGLD with a step size that adapts to the gradients (SA-SGLD).
///
/// # Rule
///
/// θ += hψ/2 ĝ(θ) + √(hψT) z, ψ = m (ζʳ + M)/(ζʳ + m), then ζ ← e^{−αΔτ} ζ + (1 − e^{−αΔτ}) g/α with the monitor
/// g = ‖ĝ‖²/(N d Ω) and Δτ = Nh/2. The steps are between m h, where gradients are large, and M h, where they are zero.
/// The first ζ is g/α at the start.
///
/// **Weights.** A chain with these steps spends too many of them where they are short. A draw θ therefore has the weight
/// hψ(ζ), where ζ is the one after the step that made the draw: the size of the step with which the chain leaves θ.
///
/// **Order.** A step uses the ζ of the gradients before it. In the paper ζ contains the gradient of the step itself, which
/// correlates the step size with the noise of the gradient, and draws have the weight of the step that made them. On a
/// standard normal posterior with gradient noise of variance 3 and steps of mean size 0.03, the weighted variance is 1.04
/// by the rule here and 1.40 in the order of the paper.
///
/// **Normalization.** For the exact gradient E‖ĝ‖² is the trace of the posterior precision, which grows with N and with the
/// number d of coordinates. Divided by N d it is the mean information of one observation about a coordinate, so that the
/// defaults have the same effect for all N and d. Δτ = Nh/2 is the learning rate of gradient ascent on the mean log density
/// per observation, the unit in which the published code counts time. That code has g = ‖ĝ‖²/N³, which is Ω = N²/d.
/// Without observations N is 1.
///
/// # Source
///
/// Leimkuhler, Lohmann & Whalley, "A Langevin sampling algorithm inspired by the Adam optimizer" (arXiv 2504.18911, 2025);
/// Rajpal, Leimkuhler & Jiang, "Adaptive stepsizing for stochastic gradient Langevin dynamics in Bayesian neural networks"
/// (arXiv 2511.11666, 2025).
///
/// # Cost
///
/// One gradient estimate and O(d) operations per step, and one gradient estimate at the start.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `alpha` | 50 | rate α at which old gradients are forgotten; the memory is 2/(αNh) steps | > 0 |
/// | `smallest` | 0.02 | least factor m of the step size | > 0 |
/// | `largest` | 2 | largest factor M of the step size | ≥ m |
/// | `r` | 0.25 | exponent r of ζ | > 0 |
/// | `omega` | 1 | scale Ω of the monitor, a typical mean square gradient per observation and coordinate | > 0 |
///
/// The step size of the run is the h of the rule. With the defaults ψ is 0.12 at g = 1, so that h is about eight times the
/// step size of SGLD. With a step size per parameter, Δτ is that of the common step size.
///
/// # Bias
///
/// O(h), as for SGLD with the weighted mean of the step sizes. The effective sample size of weighted draws is less than
/// that of as many draws of equal weight.
///
/// # When to use it
///
/// For neural networks and other posteriors with regions of very different curvature, where one step size is either
/// unstable or slow. On posteriors that are close to normal, [`Sgld`](super::Sgld) and its preconditioned variants are
/// more efficient.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::AdaptiveSgld;
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
///
/// let run = sgld(&model, &data, 0.2).dynamics(AdaptiveSgld::default()).minibatch(2).seed(1);
/// let fit = run.sample(&zeros([1]), 500)?;
/// let weights = fit.chains()[0].weights();
/// assert!(weights.iter().all(|weight| (0.004..=0.4).contains(weight)));
/// assert!(weights[1] != weights[2]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveSgld {
    /// The rate α at which old gradients are forgotten.
    pub alpha: f64,
    /// The least factor m of the step size.
    pub smallest: f64,
    /// The largest factor M of the step size.
    pub largest: f64,
    /// The exponent r of the mean square gradient ζ.
    pub r: f64,
    /// The scale Ω of the monitor.
    pub omega: f64,
}

impl Default for AdaptiveSgld {
    fn default() -> Self {
        Self { alpha: 50.0, smallest: 0.02, largest: 2.0, r: 0.25, omega: 1.0 }
    }
}

impl AdaptiveSgld {
    /// Returns ψ(ζ), which falls from M at ζ = 0 to m.
    fn factor(&self, zeta: f64) -> f64 {
        let power = zeta.powf(self.r);
        if power.is_finite() { self.smallest * (power + self.largest) / (power + self.smallest) } else { self.smallest }
    }

    /// Returns the monitor g of the gradient estimate `gradient` of a model with `observations` observations.
    fn monitor(&self, gradient: &[f64], observations: f64) -> f64 {
        dot(gradient, gradient) / (observations * gradient.len() as f64 * self.omega)
    }
}

/// The position θ, the mean square gradient ζ, and a gradient buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    zeta: f64,
    #[serde(skip)]
    g: Vec<f64>,
}

impl_has_position!(State);

/// Returns the number of observations, or 1 if the model has none.
fn observations<G: GradientEstimator>(oracle: &mut Oracle<G>) -> f64 {
    oracle.evaluator().observations().max(1) as f64
}

impl<G: GradientEstimator> Dynamics<G> for AdaptiveSgld {
    type State = State;

    fn check(&self) -> Result<()> {
        settings::positive("alpha", self.alpha)?;
        settings::positive("the smallest step factor", self.smallest)?;
        let expected = "it must be at least the smallest step factor";
        settings::at_least(
            "the largest step factor",
            settings::finite("the largest step factor", self.largest)?,
            self.smallest,
            expected,
        )?;
        settings::positive("r", self.r)?;
        settings::positive("omega", self.omega)?;
        Ok(())
    }

    fn init(&self, theta: &[f64], _context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let mut g = vec![0.0; theta.len()];
        oracle.gradient(theta, &mut g)?;
        let zeta = self.monitor(&g, observations(oracle)) / self.alpha;
        // A start without a finite gradient begins with the shortest steps.
        let zeta = if zeta.is_nan() { f64::MAX } else { zeta.min(f64::MAX) };
        Ok(State { theta: theta.to_vec(), zeta, g })
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, zeta, g } = state;
        g.resize(theta.len(), 0.0);
        let log_posterior = oracle.gradient(theta, g)?;
        let (factor, observations) = (self.factor(*zeta), observations(oracle));
        let rng = oracle.noise();
        for block in context.blocks {
            let h = factor * block.h;
            let (half_h, sd) = (0.5 * h, (h * context.temperature).sqrt());
            with_normals(rng, block.range.clone(), |range, z| {
                for ((theta, g), z) in theta[range.clone()].iter_mut().zip(&g[range]).zip(z) {
                    *theta += half_h * g + sd * z;
                }
            });
        }
        let kept = (-0.5 * self.alpha * observations * context.h).exp();
        let next = kept * *zeta + (1.0 - kept) * self.monitor(g, observations) / self.alpha;
        // A gradient that is not finite ends in an error of the chain, and must not spoil its later steps.
        if next.is_finite() {
            *zeta = next;
        }
        Ok(log_posterior)
    }

    fn step_factor(&self, state: &State) -> f64 {
        self.factor(state.zeta)
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}

#[cfg(test)]
mod tests;
