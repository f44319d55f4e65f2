//! Quasi-Newton Hamiltonian Monte Carlo: see [`Qnhmc`].

use serde::{Deserialize, Serialize};
use sgmcmc_core::{ExactGradient, Layout, Oracle, Result};

use super::inverse_hessian::{Estimate, InverseHessian, QuasiNewtonMass};
use super::point::{Point, at_point};
use super::proposal::{Leapfrog, Length, Room, Transition};
use super::step::{DualAveraging, Scale};
use crate::dynamics::Dynamics;
use crate::step_size::Tick;

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
    /// Mass matrix made of C.
    pub mass: QuasiNewtonMass,
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
        Self { steps: 10, jitter: 0.0, mass: QuasiNewtonMass::Whitening, inverse_hessian, learning, adapt: None }
    }
}

/// Where the chain is, C, the search for the step size, and how the last proposal went.
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
