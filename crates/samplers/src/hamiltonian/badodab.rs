//! The stochastic gradient Nosé–Hoover thermostat by symmetric splitting: see [`Badodab`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Layout, Oracle, Result};

use super::thermostat::{Thermostat, Thermostats, noise_along};
use super::{drift, frictions, kick, refresh, renew, rescale};
use crate::dynamics::{Dynamics, impl_has_position};
use crate::law::{Direction, LinearStep};
use crate::per_parameter::PerParameter;
use crate::step_size::{StepBlock, StepContext};

/// The stochastic gradient Nosé–Hoover thermostat by the symmetric splitting BADODAB.
///
/// # Rule
///
/// One step, where p coordinates share the thermostat ξ:
///
/// - B: ν += h/2 ĝ(θ)
/// - A: θ += ν/2
/// - D: ξ += ½(νᵀν/p − hT)
/// - O: ν ← e^{−ξ} ν + N(0, ahT (1 − e^{−2ξ})/ξ)
/// - D, A, and B with a new gradient estimate.
///
/// The chain starts with ν ~ N(0, hT) and ξ = a. The friction ξ adapts to the noise of the gradient: its mean is about
/// a + hV/2, where V is the variance of ĝ. No estimate of V is needed. ξ may become negative; the variance of O is
/// positive for every ξ, and 2ahT at ξ = 0.
///
/// # Source
///
/// Leimkuhler & Shang (2016).
///
/// # Cost
///
/// One gradient estimate per step. The last B of a step and the first B of the next step share it.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `a` | 0.01 | injected noise per step, without unit, for all parameters or by name; also the initial value of the thermostats | (0, 1] |
/// | `thermostats` | per parameter | coordinates that share a thermostat | global only with one `a` |
///
/// Statistics with every draw: `thermostat`, or `thermostat.NAME` for each parameter.
///
/// # Bias
///
/// On a normal posterior with the exact gradient the error of the variance is of second order in √h, for every `a`. The
/// error ξ/2 of [`Sgnht`](super::Sgnht), 0.5 % at a = 0.01 and 5 % at a = 0.1, is absent. With gradient noise of hV/2 =
/// 0.1 the simulated variances are within 1 % of the exact ones; those of `Sgnht` are 6 to 11 % too small (see the
/// table there). The thermostat corrects gradient noise that is constant over the posterior and equal in all
/// coordinates that share the thermostat.
///
/// # When to use it
///
/// As the default thermostat for minibatch gradients of unknown noise. It has the cost and the settings of `Sgnht`
/// without its bias.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Badodab, Thermostats};
/// use sgmcmc::distributions::*;
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
///
/// let dynamics = Badodab { a: 0.1.into(), thermostats: Thermostats::Global };
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(2));
/// let run = Builder::new(model.with(&data), dynamics, gradient, 0.01).seed(1);
/// let fit = run.sample(&zeros([1]), 500)?;
/// assert!(fit.chains()[0].stat("thermostat").is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Badodab {
    /// The injected noise a, for all parameters or by name. It is also the initial value of the thermostats.
    pub a: PerParameter<f64>,
    /// The coordinates that share a thermostat.
    pub thermostats: Thermostats,
}

impl Default for Badodab {
    fn default() -> Self {
        Self { a: 0.01.into(), thermostats: Thermostats::PerParameter }
    }
}

/// The position θ, the velocity ν, the thermostats ξ and the last gradient estimate ĝ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    velocity: Vec<f64>,
    thermostats: Vec<Thermostat>,
    g: Vec<f64>,
}

impl_has_position!(State);

/// Returns (1 − e^{−2ξ})/ξ, with the limit 2 at ξ = 0.
fn renewal(xi: f64) -> f64 {
    if xi.abs() < 1e-9 { 2.0 } else { -(-2.0 * xi).exp_m1() / xi }
}

impl<G: GradientEstimator> Dynamics<G> for Badodab {
    type State = State;

    fn check(&self) -> Result<()> {
        frictions("the noise a", &self.a)
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let (mut velocity, mut g) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        refresh(&mut velocity, context, oracle.noise());
        oracle.gradient(theta, &mut g)?;
        let thermostats = self.thermostats.init(oracle.layout(), &self.a)?;
        Ok(State { theta: theta.to_vec(), velocity, thermostats, g })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.theta.copy_from_slice(theta);
        // The next step begins with the gradient at the new position.
        oracle.gradient(&state.theta, &mut state.g)?;
        Ok(())
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        oracle.retemper(from, &state.theta, &mut state.g)?;
        Ok(())
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, velocity, thermostats, g } = state;
        rescale(velocity, context);
        thermostats.iter_mut().for_each(|thermostat| thermostat.rescale(context));
        kick(velocity, g, context, 0.5);
        drift(theta, velocity, 0.5);
        thermostats.iter_mut().for_each(|thermostat| thermostat.adjust(velocity, context, 0.5));
        let rng = oracle.noise();
        for thermostat in thermostats.iter() {
            let (kept, renewed) = ((-thermostat.xi).exp(), thermostat.a * context.temperature * renewal(thermostat.xi));
            for StepBlock { range, h, .. } in context.within(thermostat.range()) {
                let sd = (renewed * h).sqrt();
                renew(velocity, range, kept, sd, rng);
            }
        }
        thermostats.iter_mut().for_each(|thermostat| thermostat.adjust(velocity, context, 0.5));
        drift(theta, velocity, 0.5);
        let log_posterior = oracle.gradient(theta, g)?;
        kick(velocity, g, context, 0.5);
        Ok(log_posterior)
    }

    /// With ξ fixed at its mean the chain is BAOAB. The mean ξ is the value at which the velocity in the middle of a
    /// step has variance hT.
    fn variance_ratio(&self, state: &State, direction: &Direction<'_>) -> Option<f64> {
        let (a, t) = (noise_along(&state.thermostats, direction.vector), direction.temperature);
        let step = |xi: f64| {
            let middle = LinearStep::new(direction).kick(1.0).drift(0.5);
            middle.damp((-xi).exp(), a * t * renewal(xi)).drift(0.5)
        };
        // The thermostat measures the velocity before and after the refresh.
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
