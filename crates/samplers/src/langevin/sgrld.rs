//! SGRLD, Langevin dynamics with a matrix of the user that depends on θ:
//! θ += h/2 (M(θ) ĝ(θ) + Γ(θ)) + √(hT) M(θ)^{1/2} z, Γᵢ = Σⱼ ∂Mᵢⱼ/∂θⱼ.
//!
//! Sources: Patterson & Teh (2013); Şimşekli et al. (2016), §3.1, where M is the inverse of the expected Fisher information; Γ as in their eq.
//! (9). Cost per step: one gradient estimate, one M, one Γ, and for dense M a Cholesky factor (d³/3). Without Γ the bias does not vanish with h.
//! At temperature T, Γ is multiplied by T, which leaves p^{1/T} invariant, as a density of the values of the parameters.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, GradientEstimator, Oracle, Result};
use sgmcmc_linalg::Cholesky;

use super::{Scratch, not_positive_definite};
use crate::dynamics::{Dynamics, positioned};
use crate::law::Direction;
use crate::metric::{Metric, MetricShape, MetricWork};
use crate::step_size::Tick;

/// Langevin dynamics with a matrix M(θ) of the user.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `metric` | – | M(θ), and Γ(θ) where it is known |
/// | `gamma` | yes | whether Γ is added |
#[derive(Clone, Debug)]
pub struct Sgrld {
    /// M(θ).
    pub metric: Metric,
    /// Whether Γ is added; without it the chain is biased.
    pub gamma: bool,
}

impl Sgrld {
    /// With M(θ) and Γ.
    pub fn new(metric: Metric) -> Self {
        Self { metric, gamma: true }
    }

    /// Returns an error if M is dense and the step sizes of this iteration differ by parameter.
    fn check_step_sizes(&self, tick: Tick<'_>) -> Result<()> {
        let first = tick.pieces.first().map_or(tick.h, |piece| piece.h);
        let uneven = tick.pieces.iter().any(|piece| (piece.h - first).abs() > 1e-12 * first);
        if self.metric.shape() == MetricShape::Dense && uneven {
            let value = format!("different by parameter at iteration {}", tick.t);
            let expected = "with a dense metric all parameters have the same step size; put the scales into the metric";
            return Err(Error::Setting { name: "the step size", value, expected });
        }
        Ok(())
    }
}

/// θ, and room to work in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    m: Vec<f64>,
    #[serde(skip)]
    gamma: Vec<f64>,
    #[serde(skip)]
    factor: Option<Cholesky>,
    #[serde(skip)]
    work: MetricWork,
}

positioned!(State);

impl<G: GradientEstimator> Dynamics<G> for Sgrld {
    type State = State;

    /// M, its factor, and M at two points for Γ.
    fn workspace(&self, dim: usize) -> usize {
        self.metric.shape().dense_bytes(dim, 4)
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        self.check_step_sizes(tick)?;
        let mut m = Vec::new();
        self.metric.at(theta, &mut m)?;
        let gamma = vec![0.0; theta.len()];
        let work = MetricWork::default();
        Ok(State { theta: theta.to_vec(), scratch: Scratch::default(), m, gamma, factor: None, work })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        self.check_step_sizes(tick)?;
        let State { theta, scratch, m, gamma, factor, work } = state;
        let log_posterior = oracle.fresh(theta, scratch.gradient(theta.len()))?;
        self.metric.at(theta, m)?;
        if self.gamma {
            gamma.resize(theta.len(), 0.0);
            self.metric.gamma(theta, gamma, work);
        }
        match self.metric.shape() {
            MetricShape::Diagonal => scratch.diagonal_step(theta, m, tick, oracle.noise()),
            MetricShape::Dense => {
                let factor = refactored(factor, m, theta.len())?;
                scratch.factored_step(theta, tick, oracle.noise(), |from, to, transpose| {
                    if transpose { factor.transpose_product(from, to) } else { factor.product(from, to) }
                });
            }
        }
        if self.gamma {
            for piece in tick.pieces {
                let factor = 0.5 * piece.h * tick.temperature;
                let moved = theta[piece.range.clone()].iter_mut().zip(&gamma[piece.range.clone()]);
                moved.for_each(|(theta, gamma)| *theta += factor * gamma);
            }
        }
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        let State { theta, m, factor, .. } = state;
        self.metric.at(theta, m)?;
        match self.metric.shape() {
            MetricShape::Diagonal => v.iter_mut().zip(&*m).for_each(|(v, m)| *v *= m.sqrt()),
            MetricShape::Dense => {
                let (factor, from) = (refactored(factor, m, theta.len())?, v.to_vec());
                if transpose { factor.transpose_product(&from, v) } else { factor.product(&from, v) }
            }
        }
        Ok(())
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }

    fn unpredicted_bias(&self) -> Option<&'static str> {
        let missing =
            "SGRLD without Γ has a bias that does not vanish with the step size and that the law does not predict";
        (!self.gamma).then_some(missing)
    }
}

/// The factor of `m`, in the memory of the last one.
fn refactored<'a>(factor: &'a mut Option<Cholesky>, m: &[f64], dim: usize) -> Result<&'a Cholesky> {
    let refused = |error| not_positive_definite("M(theta)", &error);
    match factor {
        Some(factor) => {
            factor.refactor(m).map_err(refused)?;
            Ok(factor)
        }
        None => Ok(factor.insert(Cholesky::new(m, dim).map_err(refused)?)),
    }
}
