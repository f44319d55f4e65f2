//! Langevin proposals with a position-dependent matrix: see [`RiemannianMala`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, ExactGradient, Fingerprint, Layout, Oracle, Result};
use sgmcmc_numerics::Cholesky;

use super::outcome::{Outcome, Proposal};
use super::point::{Point, impl_has_position_of_point};
use super::proposal::{LeapfrogWorkspace, kinetic, standard_normal};
use super::step::{DualAveraging, StepSizeAdaptation};
use crate::dynamics::Dynamics;
use crate::metric::{Metric, MetricShape, MetricWork};
use crate::step_size::StepContext;

/// MALA with a position-dependent matrix M(θ).
///
/// # Rule
///
/// The proposal θ* = θ + h/2 (M(θ) g(θ) + Γ(θ)) + √h S(θ) z, M = S Sᵀ, Γᵢ = Σⱼ ∂Mᵢⱼ/∂θⱼ, is accepted with probability
/// min(1, p(θ*|x) q(θ|θ*) / (p(θ|x) q(θ*|θ))). Up to a constant, log q(θ*|θ) = −½ zᵀz − log det S(θ). The noise of the
/// reverse move is z* = S(θ*)⁻¹ (θ − θ* − h/2 (M(θ*) g(θ*) + Γ(θ*))) / √h. At temperature T the values of the
/// parameters have density p(θ|x)^{1/T}.
///
/// # Source
///
/// Welling & Teh (2011), eqs. (17)–(19).
///
/// # Cost
///
/// Per proposal one full gradient, one evaluation of M, one of Γ (2d evaluations of M if Γ is not given), and for dense
/// M a Cholesky factorization (d³/3).
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | `metric` | – | the functions M(θ) and, optionally, Γ(θ); see [`Metric`] |
/// | `gamma` | `true` | whether Γ is added to the drift |
/// | `adapt` | `None` | step-size adaptation |
///
/// If M has the unit of a posterior covariance, the step size h has no unit. Statistics with every draw:
/// `acceptance_rate`, `step_size` (√h).
///
/// # Bias
///
/// None, with Γ or without it. With Γ more proposals are accepted.
///
/// # When to use it
///
/// If the scale of the posterior varies with θ in a known way and the full gradient is affordable.
/// [`Sgrld`](crate::langevin::Sgrld) is the minibatch version.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{RiemannianMala, Metric};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let metric = Metric::diagonal(|theta, m| m[0] = 1.0 / (1.0 + theta[0] * theta[0]));
/// let fit = mala(&model, &Dataset::none(), 0.5).dynamics(RiemannianMala::new(metric)).sample(&zeros([1]), 500)?;
/// assert!(fit.chains()[0].stat("acceptance_rate").is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RiemannianMala {
    /// The matrix M(θ).
    pub metric: Metric,
    /// True if Γ is added to the drift.
    pub gamma: bool,
    /// Step-size adaptation; `None` disables it.
    pub adapt: Option<DualAveraging>,
}

impl RiemannianMala {
    /// Creates the algorithm with the matrix `metric`, the correction Γ and no adaptation.
    pub fn new(metric: Metric) -> Self {
        Self { metric, gamma: true, adapt: None }
    }
}

/// The root S(θ) of the matrix.
#[derive(Clone, Debug)]
enum Root {
    Diagonal(Vec<f64>),
    Dense(Cholesky),
}

impl Root {
    /// Evaluates the root at `theta`.
    fn new(metric: &Metric, theta: &[f64]) -> Result<Self> {
        let mut m = Vec::new();
        metric.at(theta, &mut m)?;
        Ok(match metric.shape() {
            MetricShape::Diagonal => Self::Diagonal(m.iter().map(|m| m.sqrt()).collect()),
            MetricShape::Dense => Self::Dense(Cholesky::new(&m, theta.len()).map_err(|error| {
                let expected = "it must be positive definite wherever the chain starts";
                Error::Setting { name: "M(theta)", value: format!("not valid ({error})"), expected }
            })?),
        })
    }

    /// Writes S v into `out`.
    fn multiply(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(roots) => out.iter_mut().zip(roots.iter().zip(v)).for_each(|(out, (s, v))| *out = s * v),
            Self::Dense(factor) => factor.product(v, out),
        }
    }

    /// Writes Sᵀ v into `out`.
    fn multiply_transposed(&self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(_) => self.multiply(v, out),
            Self::Dense(factor) => factor.transpose_product(v, out),
        }
    }

    /// Multiplies `v` by S⁻¹.
    fn solve(&self, v: &mut [f64]) {
        match self {
            Self::Diagonal(roots) => v.iter_mut().zip(roots).for_each(|(v, root)| *v /= root),
            Self::Dense(factor) => factor.solve_lower(v),
        }
    }

    /// Returns log det S.
    fn log_determinant(&self) -> f64 {
        match self {
            Self::Diagonal(roots) => roots.iter().map(|root| root.ln()).sum(),
            Self::Dense(factor) => 0.5 * factor.log_determinant(),
        }
    }
}

/// The root and the drift of proposals from a point.
#[derive(Clone, Debug)]
struct LocalProposal {
    root: Root,
    /// The drift h/2 (M g + Γ), divided by √h.
    drift: Vec<f64>,
}

/// The position of the chain, the step-size adaptation and the result of the last proposal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    outcome: Outcome,
    #[serde(skip)]
    workspace: LeapfrogWorkspace,
    #[serde(skip)]
    work: MetricWork,
}

impl_has_position_of_point!(State);

impl RiemannianMala {
    /// Evaluates the root and the drift at `point`, for steps `epsilon`.
    fn local(&self, point: &Point, epsilon: &[f64], temperature: f64, work: &mut MetricWork) -> Result<LocalProposal> {
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
        Ok(LocalProposal { root, drift })
    }

    /// Returns the logarithm of the Metropolis ratio. `workspace.z` holds the noise of the proposal, and then that of
    /// the reverse move.
    fn log_ratio(
        &self,
        point: &Point,
        here: &LocalProposal,
        workspace: &mut LeapfrogWorkspace,
        temperature: f64,
        work: &mut MetricWork,
    ) -> f64 {
        if !workspace.end.is_finite() {
            return f64::NEG_INFINITY;
        }
        // A point where M is not positive definite is rejected.
        let Ok(there) = self.local(&workspace.end, &workspace.epsilon, temperature, work) else {
            return f64::NEG_INFINITY;
        };
        let forward = -kinetic(&workspace.z) - here.root.log_determinant();
        let moves = point.theta.iter().zip(&workspace.end.theta).zip(workspace.epsilon.iter().zip(&there.drift));
        workspace
            .z
            .iter_mut()
            .zip(moves)
            .for_each(|(z, ((old, new), (epsilon, drift)))| *z = (old - new) / epsilon - drift);
        there.root.solve(&mut workspace.z);
        let back = -kinetic(&workspace.z) - there.root.log_determinant();
        (workspace.end.log_posterior - point.log_posterior) / temperature + back - forward
    }
}

impl<G: ExactGradient> Dynamics<G> for RiemannianMala {
    type State = State;

    fn check(&self) -> Result<()> {
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let mut workspace = LeapfrogWorkspace::default();
        workspace.prepare(theta.len(), context, StepSizeAdaptation::default())?;
        Root::new(&self.metric, theta)?;
        let point = Point::evaluate(theta, oracle)?;
        Ok(State { point, outcome: Outcome::default(), workspace, work: MetricWork::default() })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        state.point.retemper(from, oracle)
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, outcome, workspace, work } = state;
        workspace.prepare(point.theta.len(), context, outcome.adaptation)?;
        standard_normal(&mut workspace.z, oracle.noise());
        let here = self.local(point, &workspace.epsilon, context.temperature, work)?;
        here.root.multiply(&workspace.z, &mut workspace.product);
        workspace.end.clone_from(point);
        let moves = workspace.epsilon.iter().zip(here.drift.iter().zip(&workspace.product));
        workspace.end.theta.iter_mut().zip(moves).for_each(|(theta, (epsilon, (a, b)))| *theta += epsilon * (a + b));
        workspace.end.update(oracle)?;
        let log_ratio = self.log_ratio(point, &here, workspace, context.temperature, work);
        let proposal = Proposal { start: point, end: &mut workspace.end, log_ratio };
        outcome.decide(self.adapt, proposal, context, oracle.noise());
        Ok(point.log_posterior)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    /// Counts the factors at both ends of a proposal, and M at two points for Γ.
    fn workspace(&self, dim: usize) -> usize {
        self.metric.shape().dense_bytes(dim, 4)
    }

    fn fingerprint_of_functions(&self, theta: &[f64]) -> Result<Option<Fingerprint>> {
        Ok(Some(self.metric.fingerprint(theta)))
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        let (root, from) = (Root::new(&self.metric, &state.point.theta)?, v.to_vec());
        if transpose {
            root.multiply_transposed(&from, v)
        } else {
            root.multiply(&from, v)
        }
        Ok(())
    }

    fn keeps_draw(&self, state: &State) -> bool {
        !state.outcome.adapting
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Outcome::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.outcome.write(out);
    }
}
