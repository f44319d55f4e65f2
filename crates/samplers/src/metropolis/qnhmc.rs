//! Quasi-Newton Hamiltonian Monte Carlo: see [`Qnhmc`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{ExactGradient, Layout, Oracle, Result};

use super::inverse_hessian::{Estimate, InverseHessian, QuasiNewtonMass};
use super::mass_root::MassRoot;
use super::point::{Point, impl_has_position_of_point};
use super::proposal::{Leapfrog, LeapfrogWorkspace, TrajectoryLength, Transition};
use super::step::{DualAveraging, StepSizeAdaptation};
use crate::dynamics::Dynamics;
use crate::metric::MetricShape;
use crate::step_size::StepContext;

/// The length of the adaptation of the inverse Hessian of [`Qnhmc`].
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Adaptation, Qnhmc};
///
/// let dynamics = Qnhmc { adaptation: Adaptation::First(500), ..Qnhmc::default() };
/// assert_ne!(dynamics, Qnhmc::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adaptation {
    /// Adapts for this many iterations, which make no draws, and then freezes. The draws target the posterior.
    First(u64),
    /// Never stops adapting, as in the paper. Every iteration makes a draw. The draws are not guaranteed to target the
    /// posterior.
    Continual,
}

/// Quasi-Newton Hamiltonian Monte Carlo (QNHMC): HMC whose mass matrix comes from BFGS.
///
/// # Rule
///
/// C is the BFGS estimate of the inverse Hessian of U = −log p(θ|x). It is constant during a proposal. A proposal draws
/// z ~ N(0, I), takes L leapfrog steps of size ε = √h of
///
/// θ' = S z, z' = −Sᵀ ∇U(θ),
///
/// and is accepted with probability min(1, exp(H₀ − H₁)), H = U + ½ zᵀz. This is HMC with the inverse mass S Sᵀ.
/// [`mass`](Self::mass) selects S:
///
/// - [`QuasiNewtonMass::Whitening`], the default: S Sᵀ = C, the mass is the estimated Hessian. S is the Cholesky factor
///   of C, or the product form of the L-BFGS root.
/// - [`QuasiNewtonMass::Published`]: S = C M^{−1/2}, the rule θ' = C M⁻¹ p, p' = −C ∇U of Fu, Luo & Zhang, with inverse
///   mass C M⁻¹ C.
///
/// With C = I both are [`Hmc`](super::Hmc), draw for draw. At temperature T, U is replaced by U/T.
///
/// The pairs s = θ_{i+1} − θ_i, y = ∇U(θ_{i+1}) − ∇U(θ_i) along a trajectory update C if the proposal is accepted. With
/// dense BFGS in the whitening form, an update is undone if C is not positive definite after rounding.
///
/// # The published form mirrors the conditioning
///
/// Let Σ be the covariance of a Gaussian posterior, λ its eigenvalues, and C = Σ. The frequencies of the trajectories
/// are 1/√λ with a unit mass, √λ with the published form and M = I, and 1 with the whitening form. The step size must
/// suit the highest frequency, and the directions of the lowest one mix slowly. The published form therefore has the
/// condition number of HMC, with fast and slow directions exchanged. It is better than HMC only at a fixed step size
/// that is too small for HMC.
///
/// Effective sample sizes of 10 000 draws from N(0, diag(1, 100²)), L = 10, `jitter` 0.5, step size adapted to an
/// acceptance rate of 0.8, means of three runs:
///
/// | | coordinate 1 (sd 1) | coordinate 2 (sd 100) |
/// |---|---|---|
/// | [`Hmc`](super::Hmc), unit mass | 8500 | 50 |
/// | QNHMC, published, M = I | 55 | 8000 |
/// | QNHMC, whitening | 7200 | 7200 |
///
/// # Exactness
///
/// C depends on the past of the chain. A chain that never stops adapting is not guaranteed to target the posterior. By
/// default C is adapted in the first iterations, which make no draws, and then frozen: from then on the chain is HMC
/// with a fixed mass, which is exact for every C.
///
/// # Cost
///
/// L gradients per proposal. Per leapfrog step two products with S or Sᵀ:
///
/// | | BFGS | L-BFGS with m pairs |
/// |---|---|---|
/// | whitening | d²/2 each | 2md each |
/// | published | d² each | 4md each |
///
/// Per accepted proposal during adaptation: L updates of C, 2d² each with BFGS, and in the whitening form one Cholesky
/// factorization (d³/3) with BFGS, or m²d operations with L-BFGS. Once C is frozen nothing is factored. Memory: up to
/// 3d² numbers, d² in the published form; 2md or 4md with L-BFGS.
///
/// # When to use it
///
/// For posteriors with strong correlations or very different scales, whose curvature is about the same everywhere, and
/// with an exact gradient. If the curvature varies strongly (banana, funnel), one C does not fit everywhere: the chain
/// is exact but slow, and L-BFGS with few pairs and a short adaptation is the better choice. Adapt the step size too,
/// for about twice as long as C: the right step size depends on C, and a C that is too large for the step size rejects
/// every proposal and is then never updated. With the whitening form and a good C, ε is of order 1 for all scales of
/// the posterior. Prefer a common step size: step sizes by parameter multiply S from the left.
///
/// # Settings
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `steps` | 10 | leapfrog steps L | ≥ 1 |
/// | `jitter` | 0 | L is uniform within this share of `steps`; avoids periodic trajectories | [0, 1) |
/// | `mass` | whitening | mass matrix derived from C | a `covariance` must be positive definite |
/// | `inverse_hessian` | BFGS | representation of C | memory ≥ 1, γ > 0 |
/// | `adaptation` | first 1000 iterations | length of the adaptation of C | |
/// | `adapt` | `None` | step-size adaptation | |
///
/// Statistics with every draw: those of [`Hmc`](super::Hmc).
///
/// # Source
///
/// Fu, Luo & Zhang (2016), eq. (7) and algorithm 2, whose exp(E₁ − E₀) is a misprint for exp(E₀ − E₁). The whitening
/// form is their eq. (7) with M = C.
///
/// # Examples
///
/// A Gaussian with standard deviations 1 and 100: both coordinates mix equally well.
///
/// ```
/// use sgmcmc::algorithms::{Adaptation, DualAveraging, Qnhmc};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| {
///     let (narrow, wide) = (x.clone().slice([0..1]), x.slice([1..2]) / 100.0);
///     (narrow.square() + wide.square()) * -0.5
/// });
/// let dynamics = Qnhmc {
///     jitter: 0.5,
///     adaptation: Adaptation::First(500),
///     adapt: Some(DualAveraging::new(1000)),
///     ..Qnhmc::default()
/// };
/// let fit = qnhmc(&model, &Dataset::none(), 0.01).dynamics(dynamics).seed(1).sample(&zeros([2]), 1000)?;
/// assert!(fit.summary().rows().iter().all(|row| row.ess_bulk > 300.0));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
///
/// The published form:
///
/// ```
/// use sgmcmc::algorithms::{Covariance, Qnhmc, QuasiNewtonMass};
///
/// let mass = QuasiNewtonMass::Published { covariance: Covariance::IDENTITY };
/// let dynamics = Qnhmc { mass, ..Qnhmc::default() };
/// assert_ne!(dynamics, Qnhmc::default());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Qnhmc {
    /// The number L of leapfrog steps.
    pub steps: u32,
    /// The half-width of the uniform distribution of the number of steps, as a share of `steps`.
    pub jitter: f64,
    /// The mass matrix derived from C.
    pub mass: QuasiNewtonMass,
    /// The representation of C.
    pub inverse_hessian: InverseHessian,
    /// The length of the adaptation of C.
    pub adaptation: Adaptation,
    /// Step-size adaptation; `None` disables it.
    pub adapt: Option<DualAveraging>,
}

impl Default for Qnhmc {
    fn default() -> Self {
        let (inverse_hessian, adaptation) = (InverseHessian::Bfgs, Adaptation::First(1000));
        Self { steps: 10, jitter: 0.0, mass: QuasiNewtonMass::Whitening, inverse_hessian, adaptation, adapt: None }
    }
}

/// The position of the chain, the estimate C, the step-size adaptation and the result of the last proposal.
// Renamed fields have their old names in checkpoints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    estimate: Estimate,
    #[serde(rename = "scale")]
    adaptation: StepSizeAdaptation,
    #[serde(rename = "counts")]
    keeps_draw: bool,
    last: Transition,
    #[serde(skip)]
    workspace: LeapfrogWorkspace,
    #[serde(skip)]
    work: Vec<f64>,
    #[serde(skip)]
    pairs: Pairs,
}

impl_has_position_of_point!(State);

/// The pairs (s, y) of a trajectory.
#[derive(Clone, Debug, Default)]
struct Pairs {
    last: Point,
    s: Vec<f64>,
    y: Vec<f64>,
}

impl Pairs {
    /// Starts a trajectory at `point`.
    fn begin(&mut self, point: &Point) {
        self.last.clone_from(point);
        self.s.clear();
        self.y.clear();
    }

    /// Adds the pair of the last two points. At temperature T the Hessian is that of U/T.
    fn visit(&mut self, point: &Point, temperature: f64) {
        let Self { last, s, y } = self;
        s.extend(point.theta.iter().zip(&last.theta).map(|(new, old)| new - old));
        y.extend(point.g.iter().zip(&last.g).map(|(new, old)| (old - new) / temperature));
        last.clone_from(point);
    }

    /// Returns the pairs, the oldest first.
    fn iter(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let d = self.last.theta.len().max(1);
        self.s.chunks_exact(d).zip(self.y.chunks_exact(d))
    }
}

impl Qnhmc {
    fn length(&self) -> TrajectoryLength {
        TrajectoryLength { steps: self.steps, jitter: self.jitter }
    }

    /// Returns whether iteration `t` adapts C.
    fn adapts_at(&self, t: u64) -> bool {
        match self.adaptation {
            Adaptation::First(iterations) => t < iterations,
            Adaptation::Continual => true,
        }
    }
}

impl<G: ExactGradient> Dynamics<G> for Qnhmc {
    type State = State;

    fn check(&self) -> Result<()> {
        self.length().check()?;
        self.inverse_hessian.check()?;
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        if let QuasiNewtonMass::Published { covariance } = &self.mass {
            covariance.check_dim(theta.len())?;
        }
        let mut workspace = LeapfrogWorkspace::default();
        workspace.prepare(theta.len(), context, StepSizeAdaptation::default())?;
        let estimate = Estimate::new(self.inverse_hessian, theta.len());
        let point = Point::evaluate(theta, oracle)?;
        let (adaptation, last) = (StepSizeAdaptation::default(), Transition::default());
        Ok(State {
            point,
            estimate,
            adaptation,
            keeps_draw: false,
            last,
            workspace,
            work: Vec::new(),
            pairs: Pairs::default(),
        })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        state.point.retemper(from, oracle)
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, estimate, adaptation, keeps_draw, last, workspace, work, pairs } = state;
        let adapts = self.adapts_at(context.t);
        if adapts {
            pairs.begin(point);
        }
        let mut root = estimate.root(&self.mass, work)?;
        let mut leapfrog = Leapfrog { mass_root: &mut root, length: self.length(), adaptation: *adaptation };
        *last = leapfrog.propose(point, context, workspace, oracle, |visited| {
            if adapts {
                pairs.visit(visited, context.temperature);
            }
        })?;
        if adapts && last.accepted {
            estimate.update(pairs.iter())?;
        }
        let warming_up = adapts && self.adaptation != Adaptation::Continual;
        *keeps_draw = !warming_up && !adaptation.is_adapting(self.adapt);
        adaptation.update(self.adapt, last.acceptance_rate);
        Ok(point.log_posterior)
    }

    fn is_exact(&self) -> bool {
        self.adaptation != Adaptation::Continual
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    /// Counts C and, in the whitening form, its factor and C before an update.
    fn workspace(&self, dim: usize) -> usize {
        let matrices = match self.mass {
            QuasiNewtonMass::Whitening => 3,
            QuasiNewtonMass::Published { .. } => 1,
        };
        match self.inverse_hessian {
            InverseHessian::Bfgs => MetricShape::Dense.dense_bytes(dim, matrices),
            InverseHessian::Lbfgs { .. } => 0,
        }
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        let from = v.to_vec();
        let mut root = state.estimate.root(&self.mass, &mut state.work)?;
        if transpose {
            root.multiply_transposed(&from, v)
        } else {
            root.multiply(&from, v)
        }
        Ok(())
    }

    fn keeps_draw(&self, state: &State) -> bool {
        state.keeps_draw
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Transition::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.last.write(out);
    }
}
