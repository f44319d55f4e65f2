//! Quasi-Newton Langevin dynamics: see [`Hamcmc`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Oracle, Result, settings};
use sgmcmc_numerics::{InitialScale, Lbfgs};

use super::Scratch;
use crate::dynamics::{Dynamics, impl_has_position};
use crate::law::Direction;
use crate::step_size::StepContext;

/// Quasi-Newton Langevin dynamics (HAMCMC), SGLD with an L-BFGS preconditioner.
///
/// # Rule
///
/// θₜ = θₜ₋ₘ + h/2 Hₜ ĝ(θₜ₋ₘ) + √(hT) Sₜ z, where m = M is `memory` and Hₜ = Sₜ Sₜᵀ is the L-BFGS matrix of the last
/// M−1 pairs
///
/// s = θₜ − θₜ₋ₘ, y = −(ĝ(θₜ) − ĝ(θₜ₋ₘ)) + λs, with both gradients on the same minibatch.
///
/// The algorithm interleaves M Markov chains: iteration t moves θₜ₋ₘ to θₜ. No pair in Hₜ depends on θₜ₋ₘ, so there is
/// no correction term Γ. For the same reason a pair without positive curvature leaves its slot empty, and no older pair
/// replaces it. Until there are pairs, the draws are those of SGLD with the matrix γI.
///
/// Draws of one chain are correlated, draws of different chains are nearly independent.
/// [`Builder::sample`](crate::Builder::sample) therefore records every run as M chains: `chains(4)` with the default
/// M = 3 gives a fit of 12 chains, numbered run by run. All M chains start at the same point. For a chain stepped by
/// hand, see [`Sampler::interleaved_chains`](crate::Sampler::interleaved_chains). A Gibbs update after a step changes
/// the newest sample only: each of the M chains keeps the values that were drawn conditionally on its own parameters.
///
/// # Source
///
/// Şimşekli et al. (2016), eq. (10) and algorithm 1, whose ε is h/2, with a corrected square root: see
/// [`Lbfgs`](sgmcmc_numerics::Lbfgs).
///
/// # Cost
///
/// Two gradient estimates and O(M²d) operations per step; O(Md) memory.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `memory` | 3 | the number M of interleaved chains; H consists of M−1 pairs | ≥ 2, typically 2 to 5 |
/// | `lambda` | 1 | the regularization λ, in the unit of a curvature: H approximates the inverse of the Hessian plus λI | ≥ 0 |
/// | `gamma` | 1 | the scale γ of H in directions without pairs, in the unit of a variance; fixed, or from the newest pair | > 0 |
///
/// λ should be well below the large curvatures of the posterior and above the small ones. A γ of about the inverse of a
/// typical curvature, which is proportional to 1/N, is a good start. The step size h has no unit, since H has the unit
/// of a variance.
///
/// # Bias
///
/// O(h), as SGLD with the matrix H.
///
/// # When to use it
///
/// For correlated posteriors in many dimensions, where a dense matrix is too large.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Hamcmc, InitialScale};
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
///
/// let dynamics = Hamcmc { memory: 2, gamma: InitialScale::Fixed(0.25), ..Hamcmc::default() };
/// let fit = hamcmc(&model, &data, 0.1).dynamics(dynamics).minibatch(2).seed(1).sample(&zeros([1]), 100)?;
/// assert_eq!(fit.chains().len(), 2);
/// assert_eq!(fit.chains()[0].len(), 50);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hamcmc {
    /// The number M of interleaved chains. H consists of M−1 pairs.
    pub memory: usize,
    /// The regularization λ of the Hessian.
    pub lambda: f64,
    /// The scale γ of H in directions without pairs.
    pub gamma: InitialScale,
}

impl Default for Hamcmc {
    fn default() -> Self {
        Self { memory: 3, lambda: 1.0, gamma: InitialScale::Fixed(1.0) }
    }
}

/// The last M samples and the pairs of L-BFGS.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    /// The M−1 samples before θ, as a ring buffer that starts at `oldest`.
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

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for Hamcmc {
    type State = State;

    fn check(&self) -> Result<()> {
        settings::at_least("the memory of HAMCMC", self.memory, 2, "it must be at least 2")?;
        settings::non_negative("lambda", self.lambda)?;
        let (InitialScale::Fixed(gamma) | InitialScale::Newest(gamma)) = self.gamma;
        settings::positive("gamma", gamma)?;
        Ok(())
    }

    fn init(&self, theta: &[f64], _context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
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

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, past, oldest, pairs, scratch, y, next } = state;
        let from = &mut past[*oldest];
        let log_posterior = oracle.gradient(from, scratch.gradient(theta.len()))?;
        next.clone_from(from);
        scratch.factored_step(next, context, oracle.noise(), |v, product, transpose| {
            product.copy_from_slice(v);
            if transpose { pairs.root_transpose_product(product) } else { pairs.root_product(product) }
        });
        y.resize(theta.len(), 0.0);
        oracle.gradient_same_batch(next, y)?;
        // The buffer of the start is reused, first for s and then for the previous sample.
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

    fn interleaved_chains(&self) -> usize {
        self.memory
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        if transpose {
            state.pairs.root_transpose_product(v)
        } else {
            state.pairs.root_product(v)
        }
        Ok(())
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}
