//! Quasi-Newton Hamiltonian Monte Carlo: θ' = C M⁻¹ p, p' = C ∇ log p(θ|x), with C ≈ the inverse Hessian of −log p(θ|x) by BFGS, fixed
//! during a proposal.
//!
//! Source: Fu, Luo & Zhang (2016), eq. (7) and algorithm 2, whose exp(E₁ − E₀) is a misprint for exp(E₀ − E₁). Cost: L gradients per
//! proposal, two products with C per step (d² each, or 4md from m pairs), and L updates of C per accepted proposal while it
//! is learned. In the whitened momenta of [`proposal`](super::proposal), S = C M^{−1/2}, so that with C = I this is
//! [`Hmc`](super::Hmc), draw for draw.
//!
//! The pairs s = θ_{i+1} − θ_i, y = ∇U(θ_{i+1}) − ∇U(θ_i) of an accepted trajectory update C. C then depends on where the chain has
//! been, so that a chain which never stops learning need not have the right law: by default C is learned first, in iterations
//! which make no draws, and frozen. A C that is too large for the step size has every proposal rejected, and so is never left: look for
//! the step size too, for longer than C is learned, so that it suits the C that stays. One C for all places suits densities whose
//! curvature is the same everywhere; on a banana the chain is right but slow.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, ExactGradient, Layout, Oracle, Result};
use sgmcmc_linalg::{Bfgs, Initial, Lbfgs};

use super::covariance::Covariance;
use super::point::{Point, at_point};
use super::proposal::{Leapfrog, Length, Room, Transition};
use super::scaling::Scaling;
use super::step::{DualAveraging, Scale};
use crate::dynamics::Dynamics;
use crate::step_size::Tick;

/// How the inverse Hessian is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InverseHessian {
    /// As a matrix of d² numbers, which remembers all pairs.
    Bfgs,
    /// As the last pairs.
    Lbfgs {
        /// How many.
        memory: usize,
        /// γ: C is γI where no pair says otherwise. From the newest pair it suits the curvature of many parameters better than 1 does.
        gamma: Initial,
    },
}

/// How long the inverse Hessian is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// For so many iterations, which make no draws; from then on the chain has the right law.
    First(u64),
    /// For ever, as in the paper: draws count from the first, and nobody can promise that they have the right law.
    Continual,
}

/// Quasi-Newton Hamiltonian Monte Carlo. Its step size is h = ε², as in the whole library.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `steps` | 10 | leapfrog steps L | ≥ 1 |
/// | `jitter` | 0 | L is uniform within this share of `steps` | [0, 1) |
/// | `covariance` | the identity | the inverse of the mass M | positive definite |
/// | `inverse_hessian` | BFGS | how C is kept | memory ≥ 1, γ > 0 |
/// | `learning` | the first 1000 iterations | how long C is learned | |
/// | `adapt` | – | look for the step size, best for twice as long as C is learned | |
///
/// Statistics with every draw: those of [`Hmc`](super::Hmc).
#[derive(Clone, Debug, PartialEq)]
pub struct Qnhmc {
    /// Leapfrog steps L.
    pub steps: u32,
    /// How far the number of steps varies, as a share of it.
    pub jitter: f64,
    /// The inverse of the mass.
    pub covariance: Covariance,
    /// How C is kept.
    pub inverse_hessian: InverseHessian,
    /// How long C is learned.
    pub learning: Learning,
    /// How the step size is looked for; not at all if there is none.
    pub adapt: Option<DualAveraging>,
}

impl Default for Qnhmc {
    fn default() -> Self {
        let (inverse_hessian, learning) = (InverseHessian::Bfgs, Learning::First(1000));
        Self { steps: 10, jitter: 0.0, covariance: Covariance::UNIT, inverse_hessian, learning, adapt: None }
    }
}

/// C.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Matrix {
    Dense(Bfgs),
    Limited(Box<Lbfgs>),
}

impl Matrix {
    fn learn(&mut self, s: &[f64], y: &[f64]) {
        match self {
            Self::Dense(matrix) => matrix.update(s, y),
            Self::Limited(pairs) => pairs.push(s, y),
        };
    }

    /// `out` = C v.
    fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(matrix) => matrix.product(v, out),
            Self::Limited(pairs) => {
                out.copy_from_slice(v);
                pairs.inverse_product(out);
            }
        }
    }
}

/// S = C M^{−1/2}.
struct Warped<'a> {
    matrix: &'a mut Matrix,
    covariance: &'a Covariance,
    between: &'a mut Vec<f64>,
}

impl Scaling for Warped<'_> {
    fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        self.covariance.multiply(v, self.between);
        self.matrix.multiply(self.between, out);
    }

    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]) {
        self.matrix.multiply(v, self.between);
        self.covariance.multiply_transposed(self.between, out);
    }
}

/// Where the chain is, C, the search for the step size, and how the last proposal went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    point: Point,
    matrix: Matrix,
    scale: Scale,
    counts: bool,
    last: Transition,
    #[serde(skip)]
    room: Room,
    #[serde(skip)]
    between: Vec<f64>,
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
        if let InverseHessian::Lbfgs { memory, gamma: Initial::Fixed(gamma) | Initial::Newest(gamma) } =
            self.inverse_hessian
        {
            let refuse = |name, value, expected| Err(Error::Setting { name, value, expected });
            if memory == 0 {
                return refuse("the memory of L-BFGS", "0".into(), "keep at least 1 pair");
            }
            if !(gamma.is_finite() && gamma > 0.0) {
                return refuse("gamma", gamma.to_string(), "it must be a positive number");
            }
        }
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        self.covariance.check_dim(theta.len())?;
        let mut room = Room::default();
        room.prepare(theta.len(), tick, Scale::default())?;
        let matrix = match self.inverse_hessian {
            InverseHessian::Bfgs => Matrix::Dense(Bfgs::new(theta.len(), 1.0)),
            InverseHessian::Lbfgs { memory, gamma } => {
                Matrix::Limited(Box::new(Lbfgs::new(theta.len(), memory, gamma)))
            }
        };
        let point = Point::at(theta, oracle)?;
        let (scale, last) = (Scale::default(), Transition::default());
        Ok(State { point, matrix, scale, counts: false, last, room, between: Vec::new(), pairs: Pairs::default() })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.point.relocate(theta, oracle)
    }

    fn retemper(&self, state: &mut State, _theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        state.point.retemper(from, oracle)
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { point, matrix, scale, counts, last, room, between, pairs } = state;
        between.resize(point.theta.len(), 0.0);
        let learns = self.learns_at(tick.t);
        pairs.begin(point);
        let mut warped = Warped { matrix, covariance: &self.covariance, between };
        let mut leapfrog = Leapfrog { scaling: &mut warped, length: self.length(), scale: *scale };
        *last = leapfrog.propose(point, tick, room, oracle, |visited| {
            if learns {
                pairs.visit(visited, tick.temperature);
            }
        })?;
        if learns && last.accepted {
            pairs.iter().for_each(|(s, y)| matrix.learn(s, y));
        }
        let warming_up = learns && self.learning != Learning::Continual;
        *counts = !warming_up && !scale.is_searching(self.adapt);
        scale.learn(self.adapt, last.acceptance_rate);
        Ok(point.log_posterior)
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
