//! HAMCMC, quasi-Newton Langevin dynamics: θₜ = θₜ₋ₘ + h/2 Hₜ ĝ(θₜ₋ₘ) + √(hT) Sₜ z, Hₜ = Sₜ Sₜᵀ the L-BFGS matrix of the last M−1 pairs
//! s = θₜ − θₜ₋ₘ, y = −(ĝ(θₜ) − ĝ(θₜ₋ₘ)) + λs, both gradients on the same minibatch.
//!
//! Source: Şimşekli et al. (2016), eq. (10) and algorithm 1 (their ε is h/2), with the square root corrected: see
//! [`Lbfgs`](sgmcmc_linalg::Lbfgs). It is M chains that take turns; because no pair in Hₜ involves θₜ₋ₘ there is no Γ to add. For the
//! same reason a pair without curvature leaves its place empty instead of keeping an older one. Cost per step: two gradient estimates
//! and O(M²d); memory O(Md). The first draws, until there are pairs, are SGLD with M = γI from one start.
//!
//! A Gibbs update after a step changes the newest sample only. Each of the M chains keeps the values that were drawn for it: given the samples of
//! the other chains they would have another law.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, GradientEstimator, Oracle, Result};
use sgmcmc_linalg::{Initial, Lbfgs};

use super::Scratch;
use crate::dynamics::{Dynamics, positioned};
use crate::law::Direction;
use crate::step_size::Tick;

/// Quasi-Newton Langevin dynamics.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `memory` | 3 | M; H is made of M−1 pairs | ≥ 2, typically 2 to 5 |
/// | `lambda` | 1 | λ: H approximates the inverse of the Hessian plus λI | ≥ 0 |
/// | `gamma` | 1 | γ: H is γI where no pair says otherwise; fixed, or from the newest pair | > 0 |
///
/// λ should be well below the large and above the small curvatures of the posterior that matter; γ about the inverse of a typical curvature, 1/N
/// times a constant, is a good start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hamcmc {
    /// M.
    pub memory: usize,
    /// λ.
    pub lambda: f64,
    /// γ.
    pub gamma: Initial,
}

impl Default for Hamcmc {
    fn default() -> Self {
        Self { memory: 3, lambda: 1.0, gamma: Initial::Fixed(1.0) }
    }
}

/// The last M samples and the pairs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    /// The M−1 samples before θ, of which `oldest` is the first.
    past: Vec<Vec<f64>>,
    oldest: usize,
    pairs: Lbfgs,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    y: Vec<f64>,
    #[serde(skip)]
    next: Vec<f64>,
}

positioned!(State);

impl<G: GradientEstimator> Dynamics<G> for Hamcmc {
    type State = State;

    fn check(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if self.memory < 2 {
            return refuse("the memory of HAMCMC", self.memory.to_string(), "it must be at least 2");
        }
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return refuse("lambda", self.lambda.to_string(), "it must be zero or a positive number");
        }
        let (Initial::Fixed(gamma) | Initial::Newest(gamma)) = self.gamma;
        if !(gamma.is_finite() && gamma > 0.0) {
            return refuse("gamma", gamma.to_string(), "it must be a positive number");
        }
        Ok(())
    }

    fn init(&self, theta: &[f64], _tick: Tick<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        Ok(State {
            theta: theta.to_vec(),
            past: vec![theta.to_vec(); self.memory - 1],
            oldest: 0,
            pairs: Lbfgs::new(theta.len(), self.memory - 1, self.gamma),
            scratch: Scratch::default(),
            y: Vec::new(),
            next: Vec::new(),
        })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, past, oldest, pairs, scratch, y, next } = state;
        let from = &mut past[*oldest];
        let log_posterior = oracle.fresh(from, scratch.gradient(theta.len()))?;
        next.clone_from(from);
        scratch.factored_step(next, tick, oracle.noise(), |v, product, transpose| {
            product.copy_from_slice(v);
            if transpose { pairs.root_transpose_product(product) } else { pairs.root_product(product) }
        });
        y.resize(theta.len(), 0.0);
        oracle.again(next, y)?;
        // What was the start becomes s, and then the place of the sample that is no longer the newest.
        from.iter_mut().zip(&*next).for_each(|(from, next)| *from = next - *from);
        for ((y, g), s) in y.iter_mut().zip(&scratch.g).zip(&*from) {
            *y = g - *y + self.lambda * s;
        }
        pairs.push_in_turn(from, y);
        from.copy_from_slice(theta);
        theta.copy_from_slice(next);
        *oldest = (*oldest + 1) % (self.memory - 1);
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        if transpose { state.pairs.root_transpose_product(v) } else { state.pairs.root_product(v) }
        Ok(())
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}
