//! What an algorithm is: one file, one implementation of [`Dynamics`].

use std::convert::Infallible;
use std::ops::Range;

use rand::{Rng, RngExt, TryRng};
use rand_distr::StandardNormal;
use serde::{Serialize, de::DeserializeOwned};
use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{GradientEstimator, Layout, Oracle, Result};

use crate::law::Direction;
use crate::step_size::Tick;

/// An algorithm that moves a chain by asking an [`Oracle`] for gradients. Immutable; what moves is its state.
///
/// Dynamics see no file, no progress bar and no tensor, and run under every estimator `G`.
pub trait Dynamics<G: GradientEstimator>: Send + Sync {
    /// What the next step needs.
    type State: Positioned + Clone + Send + Serialize + DeserializeOwned + std::fmt::Debug;

    /// An error that says which setting is out of range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The state of a chain about to start at `theta`, which it does not move.
    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<Self::State>;

    /// One iteration; returns the estimate of the log density that came with its last gradient.
    fn step(&self, state: &mut Self::State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64>;

    /// Puts the chain at `theta` from outside, with everything the state says of its position.
    fn relocate(&self, state: &mut Self::State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        let _ = oracle;
        state.position_mut().copy_from_slice(theta);
        Ok(())
    }

    /// Returns whether the chain has the target as its exact stationary law, whatever the step size.
    fn is_exact(&self) -> bool {
        false
    }

    /// Returns whether steps use a matrix M other than the identity. [`apply_root`](Self::apply_root) then multiplies by its root.
    fn is_preconditioned(&self) -> bool {
        false
    }

    /// Multiplies `v` by F, or by Fᵀ if `transpose` holds, where M = F Fᵀ is the matrix of the next step: noise of covariance hM and
    /// drift h/2 M ĝ, or their counterparts with momentum. M is the identity unless the algorithm says otherwise.
    ///
    /// # Errors
    ///
    /// Returns an error if M is not defined where the chain is.
    fn apply_root(&self, state: &mut Self::State, v: &mut [f64], transpose: bool) -> Result<()> {
        let (_, _, _) = (state, v, transpose);
        Ok(())
    }

    /// Predicts the stationary variance in `direction` over the variance of the target, by the law of the algorithm on a normal posterior.
    /// Infinite if the step is beyond the limit of stability; `None` if the law is not known.
    fn variance_ratio(&self, state: &Self::State, direction: &Direction<'_>) -> Option<f64> {
        let (_, _) = (state, direction);
        None
    }

    /// Returns a sentence about a bias that [`variance_ratio`](Self::variance_ratio) does not describe, if there is one.
    fn unpredicted_bias(&self) -> Option<&'static str> {
        None
    }

    /// Adapts the gradients and log densities that the state keeps from one step to the next to a change of the temperature from `from`
    /// to the current temperature of the oracle.
    ///
    /// Called before a step with the position of the chain, only if a parameter is constrained: the log-Jacobian then has another
    /// factor (see [`Oracle`]). The default relocates the chain to where it is, which may cost a gradient estimate;
    /// [`Oracle::retemper`] costs none.
    fn retemper(&self, state: &mut Self::State, theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        let _ = from;
        self.relocate(state, theta, oracle)
    }

    /// The number M of Markov chains that take turns: iteration t, counted from 1, moves chain (t − 1) mod M. At least 1.
    ///
    /// The draws of one chain are correlated, those of different chains are nearly independent. Runs therefore record them as M
    /// chains, see [`Builder::sample`](crate::Builder::sample). All have the same number of draws if [`counts`](Self::counts)
    /// stays `true` once it is.
    fn interleaved_chains(&self) -> usize {
        1
    }

    /// Returns how many bytes of dense matrices a chain of `dim` coordinates makes. [`Builder::memory_limit`](crate::Builder::memory_limit)
    /// covers them.
    fn workspace(&self, dim: usize) -> usize {
        let _ = dim;
        0
    }

    /// Whether the last step was one whose draw counts; those that only explore do not.
    fn counts(&self, state: &Self::State) -> bool {
        let _ = state;
        true
    }

    /// The names of the numbers about the state that come with every draw, such as thermostats.
    fn stat_names(&self, layout: &Layout) -> Vec<String> {
        let _ = layout;
        Vec::new()
    }

    /// Writes those numbers into `out`, one per name.
    fn stats(&self, state: &Self::State, out: &mut [f64]) {
        let (_, _) = (state, out);
    }
}

/// Something that is somewhere.
pub trait Positioned {
    /// The coordinates.
    fn position(&self) -> &[f64];

    /// The coordinates, to be changed from outside.
    fn position_mut(&mut self) -> &mut [f64];
}

/// Normal numbers drawn at once: few, for the block is cleared at every step of chains with one parameter too.
const BLOCK: usize = 32;

/// Goes through `range` in pieces, each with as many standard normal numbers as it is long.
pub(crate) fn with_normals(rng: &mut StreamRng, range: Range<usize>, mut each: impl FnMut(Range<usize>, &[f64])) {
    let mut block = [0.0; BLOCK];
    let mut start = range.start;
    while start < range.end {
        let piece = start..range.end.min(start + BLOCK);
        let z = &mut block[..piece.len()];
        fill_normals(rng, z);
        start = piece.end;
        each(piece, z);
    }
}

/// Independent standard normal numbers. The generator is kept at hand: drawn one by one, each number would wait until it is back in memory.
pub(crate) fn fill_normals(rng: &mut StreamRng, z: &mut [f64]) {
    let mut at_hand = AtHand(rng.clone());
    z.iter_mut().for_each(|z| *z = at_hand.sample(StandardNormal));
    *rng = at_hand.0;
}

/// A generator of a type of its own, so that drawing from it is compiled for this one place, and into it.
struct AtHand(StreamRng);

impl TryRng for AtHand {
    type Error = Infallible;

    #[inline(always)]
    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        Ok(self.0.next_u32())
    }

    #[inline(always)]
    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        Ok(self.0.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

/// Implements [`Positioned`] for a state with a field `theta`.
macro_rules! positioned {
    ($state:ty) => {
        impl $crate::dynamics::Positioned for $state {
            fn position(&self) -> &[f64] {
                &self.theta
            }

            fn position_mut(&mut self) -> &mut [f64] {
                &mut self.theta
            }
        }
    };
}
pub(crate) use positioned;
