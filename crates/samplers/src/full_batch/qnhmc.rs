//! Quasi-Newton Hamiltonian Monte Carlo: see [`Qnhmc`].

use serde::{Deserialize, Serialize};
use sgmcmc_core::{ExactGradient, Layout, Oracle, Result};

use super::inverse_hessian::{Estimate, InverseHessian, QuasiNewtonMass};
use super::point::{Point, at_point};
use super::proposal::{Leapfrog, Length, Room, Transition};
use super::scaling::Scaling;
use super::step::{DualAveraging, Scale};
use crate::dynamics::Dynamics;
use crate::step_size::Tick;

/// Length of the adaptation of the inverse Hessian of [`Qnhmc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// Adapts for this many iterations, which make no draws, and then freezes. The draws target the posterior.
    First(u64),
    /// Never stops adapting, as in the paper. Every iteration makes a draw. The draws are not guaranteed to target the posterior.
    Continual,
}

/// Quasi-Newton Hamiltonian Monte Carlo (QNHMC): HMC whose mass matrix comes from BFGS.
///
/// # Rule
///
/// C is the BFGS estimate of the inverse Hessian of U = −log p(θ|x). It is constant during a proposal. A proposal draws z ~ N(0, I), takes L
/// leapfrog steps of size ε = √h of
///
/// θ' = S z, z' = −Sᵀ ∇U(θ),
///
/// and is accepted with probability min(1, exp(H₀ − H₁)), H = U + ½ zᵀz. This is HMC with the inverse mass S Sᵀ.
/// [`mass`](Self::mass) selects S:
///
/// - [`QuasiNewtonMass::Whitening`], the default: S Sᵀ = C, the mass is the estimated Hessian. S is the Cholesky factor of C, or the
///   product form of the L-BFGS root.
/// - [`QuasiNewtonMass::Published`]: S = C M^{−1/2}, the rule θ' = C M⁻¹ p, p' = −C ∇U of Fu, Luo & Zhang, with inverse mass C M⁻¹ C.
///
/// With C = I both are [`Hmc`](super::Hmc), draw for draw. At temperature T, U/T takes the place of U.
///
/// The pairs s = θ_{i+1} − θ_i, y = ∇U(θ_{i+1}) − ∇U(θ_i) along a trajectory update C if the proposal is accepted. With dense BFGS in
/// the whitening form, an update is undone if C is not positive definite after rounding.
///
/// # The published form mirrors the conditioning
///
/// Let Σ be the covariance of a Gaussian posterior, λ its eigenvalues, and C = Σ. The frequencies of the trajectories are 1/√λ with a
/// unit mass, √λ with the published form and M = I, and 1 with the whitening form. The step size must suit the highest
/// frequency, and the directions of the lowest one mix slowly. The published form therefore has the condition number of HMC, with fast
/// and slow directions exchanged. It is better than HMC only at a fixed step size that is too small for HMC.
///
/// Effective sample sizes of 10 000 draws from N(0, diag(1, 100²)), L = 10, `jitter` 0.5, step size adapted to an acceptance rate of
/// 0.8, means of three runs:
///
/// | | coordinate 1 (sd 1) | coordinate 2 (sd 100) |
/// |---|---|---|
/// | [`Hmc`](super::Hmc), unit mass | 8500 | 50 |
/// | QNHMC, published, M = I | 55 | 8000 |
/// | QNHMC, whitening | 7200 | 7200 |
///
/// # Exactness
///
/// C depends on the past of the chain. A chain that never stops adapting is not guaranteed to target the posterior. By default
/// C is adapted in the first iterations, which make no draws, and then frozen: from then on the chain is HMC with a fixed mass, which
/// is exact for every C.
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
/// Per accepted proposal during adaptation: L updates of C, 2d² each with BFGS, and in the whitening form one Cholesky factorization
/// (d³/3) with BFGS, or m²d operations with L-BFGS. Once C is frozen nothing is factored. Memory: up to 3d² numbers, d²
/// in the published form; 2md or 4md with L-BFGS.
///
/// # When to use it
///
/// For posteriors with strong correlations or very different scales, whose curvature is about the same everywhere, and with an exact
/// gradient. If the curvature varies strongly (banana, funnel), one C does not suit all places: the chain is exact but slow, and
/// L-BFGS with few pairs and a short adaptation is the better choice. Adapt the step size too, for about twice as long as C: the right step
/// size depends on C, and a C that is too large for the step size rejects every proposal and is then never updated. With the
/// whitening form and a good C, ε is of order 1 whatever the scales of the posterior. Prefer a common step size: step
/// sizes by parameter multiply S from the left.
///
/// # Settings
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `steps` | 10 | leapfrog steps L | ≥ 1 |
/// | `jitter` | 0 | L is uniform within this share of `steps`; avoids periodic trajectories | [0, 1) |
/// | `mass` | whitening | mass matrix derived from C | a `covariance` must be positive definite |
/// | `inverse_hessian` | BFGS | representation of C | memory ≥ 1, γ > 0 |
/// | `learning` | first 1000 iterations | length of the adaptation of C | |
/// | `adapt` | `None` | step-size adaptation | |
///
/// Statistics with every draw: those of [`Hmc`](super::Hmc).
///
/// # Source
///
/// Fu, Luo & Zhang (2016), eq. (7) and algorithm 2, whose exp(E₁ − E₀) is a misprint for exp(E₀ − E₁). The whitening form is their
/// eq. (7) with M = C.
///
/// # Examples
///
/// A Gaussian with standard deviations 1 and 100: both coordinates mix equally well.
///
/// ```
/// use sgmcmc_core::burn::Tensor;
/// use sgmcmc_core::{Dataset, Model, zeros};
/// use sgmcmc_samplers::{DualAveraging, Learning, Qnhmc, qnhmc};
///
/// let model = Model::density(|x: Tensor<1>| {
///     let (narrow, wide) = (x.clone().slice([0..1]), x.slice([1..2]) / 100.0);
///     (narrow.square() + wide.square()) * -0.5
/// });
/// let dynamics = Qnhmc {
///     jitter: 0.5,
///     learning: Learning::First(500),
///     adapt: Some(DualAveraging::new(1000)),
///     ..Qnhmc::default()
/// };
/// let fit = qnhmc(&model, &Dataset::none(), 0.01).dynamics(dynamics).seed(1).sample(&zeros([2]), 1000)?;
/// assert!(fit.summary().rows().iter().all(|row| row.ess_bulk > 300.0));
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
///
/// The form of the paper, by name:
///
/// ```
/// use sgmcmc_samplers::{Covariance, Qnhmc, QuasiNewtonMass};
///
/// let mass = QuasiNewtonMass::Published { covariance: Covariance::UNIT };
/// let dynamics = Qnhmc { mass, ..Qnhmc::default() };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Qnhmc {
    /// Leapfrog steps L.
    pub steps: u32,
    /// Half-width of the uniform law of the number of steps, as a share of `steps`.
    pub jitter: f64,
    /// Mass matrix derived from C.
    pub mass: QuasiNewtonMass,
    /// Representation of C.
    pub inverse_hessian: InverseHessian,
    /// Length of the adaptation of C.
    pub learning: Learning,
    /// Step-size adaptation; `None` disables it.
    pub adapt: Option<DualAveraging>,
}

impl Default for Qnhmc {
    fn default() -> Self {
        let (inverse_hessian, learning) = (InverseHessian::Bfgs, Learning::First(1000));
        Self { steps: 10, jitter: 0.0, mass: QuasiNewtonMass::Whitening, inverse_hessian, learning, adapt: None }
    }
}

/// Position, C, step-size adaptation and the last transition of a chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    estimate: Estimate,
    scale: Scale,
    counts: bool,
    last: Transition,
    #[serde(skip)]
    room: Room,
    #[serde(skip)]
    work: Vec<f64>,
    #[serde(skip)]
    pairs: Pairs,
}

at_point!(State);

/// The pairs (s, y) of a trajectory.
#[derive(Clone, Debug, Default)]
struct Pairs {
    last: Point,
    s: Vec<f64>,
    y: Vec<f64>,
}

impl Pairs {
    fn begin(&mut self, point: &Point) {
        self.last.clone_from(point);
        self.s.clear();
        self.y.clear();
    }

    /// At temperature T the Hessian is that of U/T.
    fn visit(&mut self, point: &Point, temperature: f64) {
        let Self { last, s, y } = self;
        s.extend(point.theta.iter().zip(&last.theta).map(|(new, old)| new - old));
        y.extend(point.g.iter().zip(&last.g).map(|(new, old)| (old - new) / temperature));
        last.clone_from(point);
    }

    fn iter(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        let d = self.last.theta.len().max(1);
        self.s.chunks_exact(d).zip(self.y.chunks_exact(d))
    }
}

impl Qnhmc {
    fn length(&self) -> Length {
        Length { steps: self.steps, jitter: self.jitter }
    }

    fn learns_at(&self, t: u64) -> bool {
        match self.learning {
            Learning::First(iterations) => t < iterations,
            Learning::Continual => true,
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

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        if let QuasiNewtonMass::Published { covariance } = &self.mass {
            covariance.check_dim(theta.len())?;
        }
        let mut room = Room::default();
        room.prepare(theta.len(), tick, Scale::default())?;
        let estimate = Estimate::new(self.inverse_hessian, theta.len());
        let point = Point::at(theta, oracle)?;
        let (scale, last) = (Scale::default(), Transition::default());
        Ok(State { point, estimate, scale, counts: false, last, room, work: Vec::new(), pairs: Pairs::default() })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        state.point.retemper(from, oracle)
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, estimate, scale, counts, last, room, work, pairs } = state;
        let learns = self.learns_at(tick.t);
        if learns {
            pairs.begin(point);
        }
        let mut root = estimate.root(&self.mass, work)?;
        let mut leapfrog = Leapfrog { scaling: &mut root, length: self.length(), scale: *scale };
        *last = leapfrog.propose(point, tick, room, oracle, |visited| {
            if learns {
                pairs.visit(visited, tick.temperature);
            }
        })?;
        if learns && last.accepted {
            estimate.learn(pairs.iter())?;
        }
        let warming_up = learns && self.learning != Learning::Continual;
        *counts = !warming_up && !scale.is_searching(self.adapt);
        scale.learn(self.adapt, last.acceptance_rate);
        Ok(point.log_posterior)
    }

    fn is_exact(&self) -> bool {
        self.learning != Learning::Continual
    }

    fn is_preconditioned(&self) -> bool {
        true
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

    fn counts(&self, state: &State) -> bool {
        state.counts
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Transition::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.last.write(out);
    }
}
