//! Corrected Langevin, MALA with a matrix of the user that depends on θ: θ* = θ + h/2 (M(θ) g(θ) + Γ(θ)) + √h S(θ) z with
//! M = S Sᵀ and Γᵢ = Σⱼ ∂Mᵢⱼ/∂θⱼ, accepted with probability min(1, p(θ*|x) q(θ|θ*) / (p(θ|x) q(θ*|θ))), where
//! log q(θ*|θ) = −½ zᵀz − log det S(θ) but for a constant, and z* = S(θ*)⁻¹ (θ − θ* − h/2 (M(θ*) g(θ*) + Γ(θ*))) / √h leads back.
//!
//! Source: Welling & Teh (2011), eqs. (17)–(19). Cost per proposal: one gradient, one M, one Γ, and for dense M a Cholesky factor (d³/3). The
//! chain has the right law with Γ or without; with it more proposals are accepted. At temperature T the target is p(θ|x)^{1/T}.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, ExactGradient, Layout, Oracle, Result};
use sgmcmc_linalg::Cholesky;

use super::outcome::Outcome;
use super::point::{Point, at_point};
use super::proposal::{Room, kinetic, standard_normal};
use super::step::{DualAveraging, Scale};
use crate::dynamics::Dynamics;
use crate::metric::{Metric, MetricShape, MetricWork};
use crate::step_size::Tick;

/// MALA with a matrix M(θ) of the user.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `metric` | – | M(θ), and Γ(θ) where it is known |
/// | `gamma` | yes | whether Γ is added to the drift |
/// | `adapt` | – | look for the step size first |
#[derive(Clone, Debug)]
pub struct CorrectedLangevin {
    /// M(θ).
    pub metric: Metric,
    /// Whether Γ is added to the drift.
    pub gamma: bool,
    /// How the step size is looked for; not at all if there is none.
    pub adapt: Option<DualAveraging>,
}

impl CorrectedLangevin {
    /// With M(θ) and Γ.
    pub fn new(metric: Metric) -> Self {
        Self { metric, gamma: true, adapt: None }
    }
}

/// S(θ).
#[derive(Clone, Debug)]
enum Root {
    Diagonal(Vec<f64>),
    Dense(Cholesky),
}

impl Root {
    fn new(metric: &Metric, theta: &[f64]) -> Result<Self> {
        let mut m = Vec::new();
        metric.at(theta, &mut m)?;
        Ok(match metric.shape() {
            MetricShape::Diagonal => Self::Diagonal(m.iter().map(|m| m.sqrt()).collect()),
            MetricShape::Dense => Self::Dense(Cholesky::new(&m, theta.len()).map_err(|error| {
                let expected = "it must be positive definite wherever the chain starts";
                Error::Setting { name: "M(theta)", value: format!("of no use ({error})"), expected }
            })?),
        })
    }

    /// `out` = S v.
    fn multiply(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(roots) => out.iter_mut().zip(roots.iter().zip(v)).for_each(|(out, (s, v))| *out = s * v),
            Self::Dense(factor) => factor.product(v, out),
        }
    }

    /// `out` = Sᵀ v.
    fn multiply_transposed(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(_) => self.multiply(v, out),
            Self::Dense(factor) => factor.transpose_product(v, out),
        }
    }

    /// v ← S⁻¹ v.
    fn solve(&self, v: &mut [f64]) {
        match self {
            Self::Diagonal(roots) => v.iter_mut().zip(roots).for_each(|(v, root)| *v /= root),
            Self::Dense(factor) => factor.solve_lower(v),
        }
    }

    fn log_determinant(&self) -> f64 {
        match self {
            Self::Diagonal(roots) => roots.iter().map(|root| root.ln()).sum(),
            Self::Dense(factor) => 0.5 * factor.log_determinant(),
        }
    }
}

/// What proposals from a place need.
#[derive(Clone, Debug)]
struct Local {
    root: Root,
    /// h/2 (M g + Γ), over √h.
    drift: Vec<f64>,
}

/// Where the chain is, the search for the step size, and how the last proposal went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    outcome: Outcome,
    #[serde(skip)]
    room: Room,
    #[serde(skip)]
    work: MetricWork,
}

at_point!(State);

impl CorrectedLangevin {
    /// What proposals from `point` need, with steps of `epsilon`.
    fn local(&self, point: &Point, epsilon: &[f64], temperature: f64, work: &mut MetricWork) -> Result<Local> {
        let root = Root::new(&self.metric, &point.theta)?;
        let (mut drift, mut between) = (vec![0.0; epsilon.len()], vec![0.0; epsilon.len()]);
        let force: Vec<f64> =
            epsilon.iter().zip(&point.g).map(|(epsilon, g)| 0.5 * epsilon * g / temperature).collect();
        root.multiply_transposed(&force, &mut between);
        root.multiply(&between, &mut drift);
        if self.gamma {
            self.metric.gamma(&point.theta, &mut between, work);
            let gammas = epsilon.iter().zip(&between);
            drift.iter_mut().zip(gammas).for_each(|(drift, (epsilon, gamma))| *drift += 0.5 * epsilon * gamma);
        }
        Ok(Local { root, drift })
    }

    /// The log of the ratio that a proposal is accepted by; `room.z` holds the noise that made it, and then that which leads back.
    fn log_ratio(&self, point: &Point, here: &Local, room: &mut Room, temperature: f64, work: &mut MetricWork) -> f64 {
        if !room.end.is_finite() {
            return f64::NEG_INFINITY;
        }
        // A place where M is of no use is no place to go.
        let Ok(there) = self.local(&room.end, &room.epsilon, temperature, work) else { return f64::NEG_INFINITY };
        let forward = -kinetic(&room.z) - here.root.log_determinant();
        let ways = point.theta.iter().zip(&room.end.theta).zip(room.epsilon.iter().zip(&there.drift));
        room.z.iter_mut().zip(ways).for_each(|(z, ((old, new), (epsilon, drift)))| *z = (old - new) / epsilon - drift);
        there.root.solve(&mut room.z);
        let back = -kinetic(&room.z) - there.root.log_determinant();
        (room.end.log_posterior - point.log_posterior) / temperature + back - forward
    }
}

impl<G: ExactGradient> Dynamics<G> for CorrectedLangevin {
    type State = State;

    fn check(&self) -> Result<()> {
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let mut room = Room::default();
        room.prepare(theta.len(), tick, Scale::default())?;
        Root::new(&self.metric, theta)?;
        let point = Point::at(theta, oracle)?;
        Ok(State { point, outcome: Outcome::default(), room, work: MetricWork::default() })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, outcome, room, work } = state;
        room.prepare(point.theta.len(), tick, outcome.scale)?;
        standard_normal(&mut room.z, oracle.noise());
        let here = self.local(point, &room.epsilon, tick.temperature, work)?;
        here.root.multiply(&room.z, &mut room.product);
        room.end.clone_from(point);
        let moves = room.epsilon.iter().zip(here.drift.iter().zip(&room.product));
        room.end.theta.iter_mut().zip(moves).for_each(|(theta, (epsilon, (a, b)))| *theta += epsilon * (a + b));
        room.end.evaluate(oracle)?;
        let log_ratio = self.log_ratio(point, &here, room, tick.temperature, work);
        outcome.decide(self.adapt, log_ratio, (point, &mut room.end), tick, oracle.noise());
        Ok(point.log_posterior)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        let (root, from) = (Root::new(&self.metric, &state.point.theta)?, v.to_vec());
        if transpose { root.multiply_transposed(&from, v) } else { root.multiply(&from, v) }
        Ok(())
    }

    fn counts(&self, state: &State) -> bool {
        !state.outcome.searching
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Outcome::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.outcome.write(out);
    }
}
