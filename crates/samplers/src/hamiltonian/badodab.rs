//! The stochastic gradient Nosé–Hoover thermostat by symmetric splitting. See [`Badodab`].

use serde::{Deserialize, Serialize};
use sgmcmc_core::{GradientEstimator, Layout, Oracle, Result};

use super::thermostat::{Thermostat, Thermostats, noise_along};
use super::{drift, frictions, kick, refresh, renew, rescale};
use crate::dynamics::{Dynamics, positioned};
use crate::law::{Direction, Linear};
use crate::per_parameter::PerParameter;
use crate::step_size::{Piece, Tick};

/// The stochastic gradient Nosé–Hoover thermostat by the symmetric splitting BADODAB.
///
/// One step, where p coordinates share the thermostat ξ:
///
/// - B: ν += h/2 ĝ(θ)
/// - A: θ += ν/2
/// - D: ξ += ½(νᵀν/p − hT)
/// - O: ν ← e^{−ξ} ν + N(0, ahT (1 − e^{−2ξ})/ξ)
/// - D, A, and B with a new gradient estimate.
///
/// The chain starts with ν ~ N(0, hT) and ξ = a. The friction ξ adapts to the noise of the gradient: its mean is about a + hV/2, where V is
/// the variance of ĝ. No estimate of V is needed. ξ may become negative; the variance of O is positive all the same, and 2ahT at ξ = 0.
///
/// **Source.** Leimkuhler & Shang (2016).
///
/// **Cost.** One gradient estimate per step: the last B of one step and the first of the next share it.
///
/// **Bias.** On a normal posterior with the exact gradient the error of the variance is of second order in √h, at every `a`. The error ξ/2 of
/// [`Sgnht`](crate::Sgnht), 0.5 % at a = 0.01 and 5 % at a = 0.1, is absent. With gradient noise of hV/2 = 0.1 the simulated variances are
/// within 1 % of the exact ones, those of `Sgnht` 6 to 11 % too small; the table is there. The thermostat corrects noise that is the same everywhere and in
/// all coordinates that share it.
///
/// **When to use it.** The thermostat of choice for minibatch gradients whose noise is not known: same cost and settings as `Sgnht`,
/// without its bias.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `a` | 0.01 | injected noise, for all parameters or by name, and initial value of the thermostats | (0, 1] |
/// | `thermostats` | per parameter | coordinates that share a thermostat | global only with one `a` |
///
/// Statistics with every draw: `thermostat`, or `thermostat.NAME` for each parameter.
///
/// # Examples
///
/// ```
/// use sgmcmc_samplers::{Badodab, Thermostats};
///
/// let rough = Badodab { a: 0.1.into(), thermostats: Thermostats::Global };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Badodab {
    /// Noise added, and the first value of the thermostats: a number by `into`, or one for each parameter.
    pub a: PerParameter<f64>,
    /// Which coordinates share a thermostat.
    pub thermostats: Thermostats,
}

impl Default for Badodab {
    fn default() -> Self {
        Self { a: 0.01.into(), thermostats: Thermostats::PerParameter }
    }
}

/// θ, ν, ξ and the last ĝ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    velocity: Vec<f64>,
    thermostats: Vec<Thermostat>,
    g: Vec<f64>,
}

positioned!(State);

/// (1 − e^{−2ξ})/ξ, which is 2 at ξ = 0.
fn renewal(xi: f64) -> f64 {
    if xi.abs() < 1e-9 { 2.0 } else { -(-2.0 * xi).exp_m1() / xi }
}

impl<G: GradientEstimator> Dynamics<G> for Badodab {
    type State = State;

    fn check(&self) -> Result<()> {
        frictions("the noise a", &self.a)
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let (mut velocity, mut g) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        refresh(&mut velocity, tick, oracle.noise());
        oracle.fresh(theta, &mut g)?;
        let thermostats = self.thermostats.init(oracle.layout(), &self.a)?;
        Ok(State { theta: theta.to_vec(), velocity, thermostats, g })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.theta.copy_from_slice(theta);
        // The next step begins with the gradient where the chain now is.
        oracle.fresh(&state.theta, &mut state.g)?;
        Ok(())
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        oracle.retemper(from, &state.theta, &mut state.g)?;
        Ok(())
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, velocity, thermostats, g } = state;
        rescale(velocity, tick);
        thermostats.iter_mut().for_each(|thermostat| thermostat.rescale(tick));
        kick(velocity, g, tick, 0.5);
        drift(theta, velocity, 0.5);
        thermostats.iter_mut().for_each(|thermostat| thermostat.adjust(velocity, tick, 0.5));
        let rng = oracle.noise();
        for thermostat in thermostats.iter() {
            let (kept, renewed) = ((-thermostat.xi).exp(), thermostat.a * tick.temperature * renewal(thermostat.xi));
            for Piece { range, h, .. } in tick.within(thermostat.range()) {
                let sd = (renewed * h).sqrt();
                renew(velocity, range, kept, sd, rng);
            }
        }
        thermostats.iter_mut().for_each(|thermostat| thermostat.adjust(velocity, tick, 0.5));
        drift(theta, velocity, 0.5);
        let log_posterior = oracle.fresh(theta, g)?;
        kick(velocity, g, tick, 0.5);
        Ok(log_posterior)
    }

    /// With ξ fixed at its mean the chain is BAOAB; ξ is where the velocity between the two halves of a step has variance hT.
    fn variance_ratio(&self, state: &State, direction: &Direction<'_>) -> Option<f64> {
        let (a, t) = (noise_along(&state.thermostats, direction.vector), direction.temperature);
        let step = |xi: f64| {
            let middle = Linear::new(direction).kick(1.0).drift(0.5);
            middle.damp((-xi).exp(), a * t * renewal(xi)).drift(0.5)
        };
        // The velocity is measured between the kick and its renewal and after it.
        let heat = |xi: f64| {
            let [xx, xv, vv] = step(xi).stationary();
            let pull = direction.positive_curvature();
            let kicked = vv - 2.0 * pull * xv + pull * pull * xx + direction.noise;
            0.5 * (kicked + vv)
        };
        let (mut low, mut high) = (1e-9, 50.0);
        if heat(high) > t {
            return Some(f64::INFINITY);
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if heat(middle) > t { low = middle } else { high = middle }
        }
        Some(step(high).variance_ratio(t))
    }

    fn stat_names(&self, layout: &Layout) -> Vec<String> {
        self.thermostats.stat_names(layout)
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        out.iter_mut().zip(&state.thermostats).for_each(|(out, thermostat)| *out = thermostat.xi);
    }
}
