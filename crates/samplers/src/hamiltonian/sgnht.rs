//! The stochastic gradient Nosé–Hoover thermostat by Euler steps. See [`Sgnht`].

use serde::{Deserialize, Serialize};
use sgmcmc_core::{GradientEstimator, Layout, Oracle, Result};

use super::thermostat::{Thermostat, Thermostats, noise_along};
use super::{drift, frictions, refresh, rescale};
use crate::dynamics::{Dynamics, positioned, with_normals};
use crate::law::Direction;
use crate::per_parameter::PerParameter;
use crate::step_size::{Piece, Tick};

/// The stochastic gradient Nosé–Hoover thermostat by Euler steps.
///
/// One step is θ += ν; ν ← (1 − ξ) ν + h ĝ(θ) + N(0, 2ahT); ξ += νᵀν/p − hT, where p coordinates share the thermostat ξ. The chain
/// starts with ν ~ N(0, hT) and ξ = a.
///
/// The friction ξ adapts to the noise of the gradient: its mean is about a + hV/2, where V is the variance of ĝ. No estimate of V is needed.
///
/// **Source.** Ding et al. (2014); Baker (2019), §4.3.3.
///
/// **Cost.** One gradient estimate per step.
///
/// **Bias.** On a normal posterior the stationary variance is about (1 − ξ/2) times the exact one, ξ ≈ a + hV/2. At a fixed `a` this error does
/// not vanish with h: it is 0.5 % at a = 0.01 and 5 % at a = 0.1, and more with gradient noise. It vanishes only if `a` falls too, in
/// proportion to √h. [`Badodab`](crate::Badodab) does not have this error at the same cost and with the same settings: prefer it. `Sgnht` is
/// the algorithm of the paper and of the R package.
///
/// Simulated variances relative to the exact ones, ten coordinates, h = 0.001 over the curvature, standard errors up to 0.002:
///
/// | `a` | hV/2 | `Sgnht` | 1 − ξ/2 | `Badodab` |
/// |---|---|---|---|---|
/// | 0.01 | 0 | 0.996 | 0.995 | 1.001 |
/// | 0.1 | 0 | 0.947 | 0.947 | 0.999 |
/// | 0.01 | 0.1 | 0.941 | 0.942 | 0.996 |
/// | 0.1 | 0.1 | 0.887 | 0.887 | 0.994 |
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `a` | 0.01 | injected noise, for all parameters or by name, and initial value of the thermostats; variances are too small by a/2 and more | (0, 1] |
/// | `thermostats` | per parameter | coordinates that share a thermostat | global only with one `a` |
///
/// Statistics with every draw: `thermostat`, or `thermostat.NAME` for each parameter.
///
/// # Examples
///
/// ```
/// use sgmcmc_samplers::{PerParameter, Sgnht, Thermostats};
///
/// let by_name = Sgnht { a: PerParameter::from(0.01).parameter("bias", 0.02), ..Sgnht::default() };
/// let shared = Sgnht { thermostats: Thermostats::Global, ..Sgnht::default() };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sgnht {
    /// Noise added, and the first value of the thermostats: a number by `into`, or one for each parameter.
    pub a: PerParameter<f64>,
    /// Which coordinates share a thermostat.
    pub thermostats: Thermostats,
}

impl Default for Sgnht {
    fn default() -> Self {
        Self { a: 0.01.into(), thermostats: Thermostats::PerParameter }
    }
}

/// θ, ν and ξ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    velocity: Vec<f64>,
    thermostats: Vec<Thermostat>,
    #[serde(skip)]
    g: Vec<f64>,
}

positioned!(State);

impl<G: GradientEstimator> Dynamics<G> for Sgnht {
    type State = State;

    fn check(&self) -> Result<()> {
        frictions("the noise a", &self.a)
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let mut velocity = vec![0.0; theta.len()];
        refresh(&mut velocity, tick, oracle.noise());
        let thermostats = self.thermostats.init(oracle.layout(), &self.a)?;
        Ok(State { theta: theta.to_vec(), velocity, thermostats, g: Vec::new() })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, velocity, thermostats, g } = state;
        g.resize(theta.len(), 0.0);
        rescale(velocity, tick);
        thermostats.iter_mut().for_each(|thermostat| thermostat.rescale(tick));
        drift(theta, velocity, 1.0);
        let log_posterior = oracle.fresh(theta, g)?;
        let rng = oracle.noise();
        for thermostat in thermostats.iter() {
            let kept = 1.0 - thermostat.xi;
            for Piece { range, h, .. } in tick.within(thermostat.range()) {
                let sd = (2.0 * thermostat.a * h * tick.temperature).sqrt();
                with_normals(rng, range, |range, z| {
                    for ((v, g), z) in velocity[range.clone()].iter_mut().zip(&g[range]).zip(z) {
                        *v = kept * *v + (h * g + sd * z);
                    }
                });
            }
        }
        thermostats.iter_mut().for_each(|thermostat| thermostat.adjust(velocity, tick, 1.0));
        Ok(log_posterior)
    }

    /// With ξ fixed at its mean the chain is linear, and the thermostat keeps Var ν = hT. Then Var θ = (1 − ξ/2) T/A for every curvature, with
    /// ξ(2 − ξ − hA/2) = 2a + hV/T.
    fn variance_ratio(&self, state: &State, direction: &Direction<'_>) -> Option<f64> {
        let drive = 2.0 * noise_along(&state.thermostats, direction.vector) + direction.noise / direction.temperature;
        let most = 2.0 - 0.5 * direction.positive_curvature();
        let root = most * most - 4.0 * drive;
        Some(if most > 0.0 && root >= 0.0 { 1.0 - 0.25 * (most - root.sqrt()) } else { f64::INFINITY })
    }

    fn stat_names(&self, layout: &Layout) -> Vec<String> {
        self.thermostats.stat_names(layout)
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        out.iter_mut().zip(&state.thermostats).for_each(|(out, thermostat)| *out = thermostat.xi);
    }
}
