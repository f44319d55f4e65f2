//! HMC-BFGS: an ensemble of K chains; each is moved by HMC with a metric that L-BFGS makes of the others.
//!
//! Source: Zhang & Sutton (2011). Cost: L gradients per iteration. With x₁, …, x_{K−1} the other chains, the one that moved longest ago
//! first, the pairs s = x_{i+1} − x_i, y = ∇U(x_{i+1}) − ∇U(x_i) make H = S Sᵀ ≈ the inverse Hessian, and the mass is H⁻¹. The
//! metric does not depend on the chain it moves: the law of the ensemble is that of K independent draws, exactly, with no
//! end to the learning.
//!
//! One iteration moves one chain, the one that has waited longest, and its new place is the draw: the draws of a run go round the K
//! chains. All start at the same place and part by their own noise; the metric is the identity until they do.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, ExactGradient, Layout, Oracle, Result};
use sgmcmc_linalg::{Initial, Lbfgs};

use super::point::Point;
use super::proposal::{Leapfrog, Length, Room, Transition};
use super::scaling::Scaling;
use super::step::{DualAveraging, Scale};
use crate::dynamics::{Dynamics, Positioned};
use crate::step_size::Tick;

/// HMC-BFGS. Its step size is h = ε², as in the whole library.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `chains` | 5 | chains K of the ensemble | ≥ 3 |
/// | `steps` | 10 | leapfrog steps L | ≥ 1 |
/// | `jitter` | 0 | L is uniform within this share of `steps` | [0, 1) |
/// | `gamma` | 1 | the metric γI that the pairs improve upon | above 0 |
/// | `adapt` | – | look for the step size first | |
///
/// Statistics with every draw: those of [`Hmc`](super::Hmc).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HmcBfgs {
    /// Chains K of the ensemble.
    pub chains: usize,
    /// Leapfrog steps L.
    pub steps: u32,
    /// How far the number of steps varies, as a share of it.
    pub jitter: f64,
    /// γ of the metric γI that the pairs improve upon.
    pub gamma: f64,
    /// How the step size is looked for; not at all if there is none.
    pub adapt: Option<DualAveraging>,
}

impl Default for HmcBfgs {
    fn default() -> Self {
        Self { chains: 5, steps: 10, jitter: 0.0, gamma: 1.0, adapt: None }
    }
}

/// S of the metric that the other chains make.
struct Others<'a>(&'a mut Lbfgs);

impl Scaling for Others<'_> {
    fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        self.0.root_product(out);
    }

    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
        self.0.root_transpose_product(out);
    }
}

/// Where the chains are, which one moved last, the search for the step size, and how the last proposal went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    chains: Vec<Point>,
    current: usize,
    scale: Scale,
    searching: bool,
    last: Transition,
    #[serde(skip)]
    room: Room,
}

impl Positioned for State {
    fn position(&self) -> &[f64] {
        &self.chains[self.current].theta
    }

    fn position_mut(&mut self) -> &mut [f64] {
        &mut self.chains[self.current].theta
    }
}

impl HmcBfgs {
    fn length(&self) -> Length {
        Length { steps: self.steps, jitter: self.jitter }
    }

    /// The pairs that the chains but `moving` make, the one that moved longest ago first.
    fn metric(&self, chains: &[Point], moving: usize, temperature: f64) -> Lbfgs {
        let d = chains[moving].theta.len();
        let mut pairs = Lbfgs::new(d, self.chains - 2, Initial::Fixed(self.gamma));
        let other = |age: usize| &chains[(moving + age) % self.chains];
        let (mut s, mut y) = (vec![0.0; d], vec![0.0; d]);
        for age in 1..self.chains - 1 {
            let (old, new) = (other(age), other(age + 1));
            for i in 0..d {
                s[i] = new.theta[i] - old.theta[i];
                y[i] = (old.g[i] - new.g[i]) / temperature;
            }
            pairs.push(&s, &y);
        }
        pairs
    }
}

impl<G: ExactGradient> Dynamics<G> for HmcBfgs {
    type State = State;

    fn check(&self) -> Result<()> {
        self.length().check()?;
        if self.chains < 3 {
            let (value, expected) = (self.chains.to_string(), "it takes 2 others to make a metric: use at least 3");
            return Err(Error::Setting { name: "the number of chains of the ensemble", value, expected });
        }
        if !(self.gamma.is_finite() && self.gamma > 0.0) {
            let (value, expected) = (self.gamma.to_string(), "it must be a positive number");
            return Err(Error::Setting { name: "gamma", value, expected });
        }
        self.adapt.map_or(Ok(()), |adapt| adapt.check())
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let mut room = Room::default();
        room.prepare(theta.len(), tick, Scale::default())?;
        let chains = vec![Point::at(theta, oracle)?; self.chains];
        let (scale, last) = (Scale::default(), Transition::default());
        Ok(State { chains, current: 0, scale, searching: false, last, room })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.chains[state.current].relocate(theta, oracle)
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { chains, current, scale, searching, last, room } = state;
        let moving = (*current + 1) % self.chains;
        let mut pairs = self.metric(chains, moving, tick.temperature);
        let mut others = Others(&mut pairs);
        let mut leapfrog = Leapfrog { scaling: &mut others, length: self.length(), scale: *scale };
        *last = leapfrog.propose(&mut chains[moving], tick, room, oracle, |_| ())?;
        *current = moving;
        *searching = scale.is_searching(self.adapt);
        scale.learn(self.adapt, last.acceptance_rate);
        Ok(chains[moving].log_posterior)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    /// The metric of the first steps, γI.
    fn apply_root(&self, _state: &mut State, v: &mut [f64], _transpose: bool) -> Result<()> {
        v.iter_mut().for_each(|v| *v *= self.gamma.sqrt());
        Ok(())
    }

    fn counts(&self, state: &State) -> bool {
        !state.searching
    }

    fn stat_names(&self, _layout: &Layout) -> Vec<String> {
        Transition::names()
    }

    fn stats(&self, state: &State, out: &mut [f64]) {
        state.last.write(out);
    }
}
