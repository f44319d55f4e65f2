//! The trait that sampling algorithms implement.

use std::convert::Infallible;
use std::ops::Range;

use rand::{Rng, RngExt, TryRng};
use rand_distr::StandardNormal;
use serde::{Serialize, de::DeserializeOwned};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Fingerprint, GradientEstimator, Layout, Oracle, Result};

use crate::law::Direction;
use crate::step_size::StepContext;

/// A sampling algorithm: moves a chain with the gradients of an [`Oracle`].
///
/// An implementation holds the settings of the algorithm and is immutable. Everything that changes is in
/// [`State`](Self::State). The trait has no access to files, progress reports or tensors, and works with every gradient
/// estimator `G`.
///
/// # Examples
///
/// Gradient ascent, θ += h/2 ĝ(θ), as an algorithm without noise:
///
/// ```
/// use sgmcmc::algorithms::{Dynamics, HasPosition, StepContext};
/// use sgmcmc::gradient::{FullGradient, GradientEstimator, Oracle, Result};
/// use sgmcmc::prelude::*;
///
/// #[derive(Clone, Debug)]
/// struct Ascent;
///
/// #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
/// struct State(Vec<f64>);
///
/// impl HasPosition for State {
///     fn position(&self) -> &[f64] {
///         &self.0
///     }
///
///     fn position_mut(&mut self) -> &mut [f64] {
///         &mut self.0
///     }
/// }
///
/// impl<G: GradientEstimator> Dynamics<G> for Ascent {
///     type State = State;
///
///     fn init(&self, theta: &[f64], _: StepContext<'_>, _: &mut Oracle<G>) -> Result<State> {
///         Ok(State(theta.to_vec()))
///     }
///
///     fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
///         let mut g = vec![0.0; state.0.len()];
///         let log_posterior = oracle.gradient(&state.0, &mut g)?;
///         for block in context.blocks {
///             block.range.clone().for_each(|i| state.0[i] += 0.5 * block.h * g[i]);
///         }
///         Ok(log_posterior)
///     }
/// }
///
/// let model = Model::density(|x: Tensor<1>| (x - 3.0).square() * -0.5);
/// let posterior = model.with(&Dataset::none());
/// let mut sampler = Builder::new(posterior, Ascent, FullGradient, 0.5).start(&zeros([1]))?;
/// (0..100).try_for_each(|_| sampler.step())?;
/// assert!((sampler.position()[0] - 3.0).abs() < 1e-4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Dynamics<G: GradientEstimator>: Send + Sync {
    /// The state of a chain between two steps.
    type State: HasPosition + Clone + Send + Serialize + DeserializeOwned + std::fmt::Debug;

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Returns an error that names the setting if one is out of range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Creates the state of a chain that starts at `theta`. The position of the state is `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting does not fit the model, or if the gradient cannot be evaluated.
    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<Self::State>;

    /// Performs one iteration. Returns the estimate of the log density that belongs to the last gradient.
    ///
    /// # Errors
    ///
    /// Returns an error if the gradient cannot be evaluated.
    fn step(&self, state: &mut Self::State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64>;

    /// Moves the chain to `theta` and updates everything in the state that depends on the position.
    ///
    /// # Errors
    ///
    /// Returns an error if the gradient cannot be evaluated.
    fn relocate(&self, state: &mut Self::State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        let _ = oracle;
        state.position_mut().copy_from_slice(theta);
        Ok(())
    }

    /// Returns the factor by which the algorithm multiplies the step sizes of the schedule at the current position.
    ///
    /// It is the factor of the next step, with which the chain leaves the position: the draw has this step size as its
    /// weight. Algorithms that follow the schedule return 1, the default.
    fn step_factor(&self, state: &Self::State) -> f64 {
        let _ = state;
        1.0
    }

    /// Returns whether the target is the exact stationary distribution of the chain at every step size.
    fn is_exact(&self) -> bool {
        false
    }

    /// Returns whether steps use a matrix M other than the identity. [`apply_root`](Self::apply_root) then multiplies
    /// by its root.
    fn is_preconditioned(&self) -> bool {
        false
    }

    /// Multiplies `v` by F, or by Fᵀ if `transpose` is true, where M = F Fᵀ is the matrix of the next step.
    ///
    /// A step has noise of covariance hM and drift h/2 M ĝ, or the corresponding terms with momentum. The default
    /// is M = I.
    ///
    /// # Errors
    ///
    /// Returns an error if M is not defined at the position of the chain.
    fn apply_root(&self, state: &mut Self::State, v: &mut [f64], transpose: bool) -> Result<()> {
        let (_, _, _) = (state, v, transpose);
        Ok(())
    }

    /// Predicts the ratio of the stationary variance to the target variance in `direction`, from the law of the
    /// algorithm on a normal posterior.
    ///
    /// Returns infinity if the step is beyond the stability limit, and `None` if the law is not known.
    fn variance_ratio(&self, state: &Self::State, direction: &Direction<'_>) -> Option<f64> {
        let (_, _) = (state, direction);
        None
    }

    /// Returns a sentence about a bias that [`variance_ratio`](Self::variance_ratio) does not describe, if there is
    /// one.
    fn unpredicted_bias(&self) -> Option<&'static str> {
        None
    }

    /// Converts the gradients and log densities in the state from temperature `from` to the current temperature of the
    /// oracle.
    ///
    /// Called before a step, with the position of the chain, and only if a parameter is constrained: the log-Jacobian
    /// then has a different factor (see [`Oracle`]). The default relocates the chain to its own position, which may
    /// cost a gradient estimate. [`Oracle::retemper`] costs no gradient estimate.
    ///
    /// # Errors
    ///
    /// Returns an error if the gradient or the Jacobian cannot be evaluated.
    fn retemper(&self, state: &mut Self::State, theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        let _ = from;
        self.relocate(state, theta, oracle)
    }

    /// Returns the number M of interleaved Markov chains, at least 1: iteration t, counted from 1, moves chain (t − 1)
    /// mod M.
    ///
    /// The draws of one chain are correlated, the draws of different chains are nearly independent. Runs therefore
    /// record them as M chains, see [`Builder::sample`](crate::Builder::sample). All chains have the same number of
    /// draws if [`keeps_draw`](Self::keeps_draw) stays `true` once it is.
    fn interleaved_chains(&self) -> usize {
        1
    }

    /// Returns the size in bytes of the dense matrices that a chain of `dim` coordinates allocates.
    /// [`Builder::memory_limit`](crate::Builder::memory_limit) covers them.
    fn workspace(&self, dim: usize) -> usize {
        let _ = dim;
        0
    }

    /// Returns a fingerprint of the functions among the settings, for a chain that starts at `theta`. Checkpoints
    /// compare it, in addition to the `Debug` text of the algorithm. The default is `None`: there are no functions.
    ///
    /// # Errors
    ///
    /// Returns an error if a function cannot be evaluated.
    fn fingerprint_of_functions(&self, theta: &[f64]) -> Result<Option<Fingerprint>> {
        let _ = theta;
        Ok(None)
    }

    /// Returns whether the last step made a draw to keep. Steps that only explore or adapt do not.
    fn keeps_draw(&self, state: &Self::State) -> bool {
        let _ = state;
        true
    }

    /// Returns the names of the statistics of the state that are recorded with every draw, such as thermostats.
    fn stat_names(&self, layout: &Layout) -> Vec<String> {
        let _ = layout;
        Vec::new()
    }

    /// Writes the statistics into `out`, one per name.
    fn stats(&self, state: &Self::State, out: &mut [f64]) {
        let (_, _) = (state, out);
    }
}

/// A state that has a position.
///
/// # Examples
///
/// See [`Dynamics`].
pub trait HasPosition {
    /// Returns the coordinates.
    fn position(&self) -> &[f64];

    /// Returns the coordinates for modification.
    fn position_mut(&mut self) -> &mut [f64];
}

/// The number of normal variates generated at once. It is small because the buffer is cleared at every step, also for
/// models with a single parameter.
const BUFFER_LEN: usize = 32;

/// Splits `range` into chunks and calls `each` with every chunk and a slice of standard normal variates of the same
/// length.
pub(crate) fn with_normals(rng: &mut StreamRng, range: Range<usize>, mut each: impl FnMut(Range<usize>, &[f64])) {
    let mut buffer = [0.0; BUFFER_LEN];
    let mut start = range.start;
    while start < range.end {
        let chunk = start..range.end.min(start + BUFFER_LEN);
        let z = &mut buffer[..chunk.len()];
        fill_normals(rng, z);
        start = chunk.end;
        each(chunk, z);
    }
}

/// Fills `z` with independent standard normal variates. Copies the generator to a local so that its state stays in
/// registers.
pub(crate) fn fill_normals(rng: &mut StreamRng, z: &mut [f64]) {
    let mut local = LocalRng(rng.clone());
    z.iter_mut().for_each(|z| *z = local.sample(StandardNormal));
    *rng = local.0;
}

/// A generator of a separate type, so that the compiler instantiates and inlines the sampling code for this one call
/// site.
struct LocalRng(StreamRng);

impl TryRng for LocalRng {
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

/// Implements [`HasPosition`] for a state with a field `theta`.
macro_rules! impl_has_position {
    ($state:ty) => {
        impl $crate::dynamics::HasPosition for $state {
            fn position(&self) -> &[f64] {
                &self.theta
            }

            fn position_mut(&mut self) -> &mut [f64] {
                &mut self.theta
            }
        }
    };
}
pub(crate) use impl_has_position;
