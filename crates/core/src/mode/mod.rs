//! Finding the posterior mode, where control variates are centered and chains may start.
//!
//! | search | gradients | use it |
//! |---|---|---|
//! | [`LbfgsSearch`] | of all observations | where about a hundred passes over the data are affordable: the closest |
//! | [`ModeSearch`] | of any estimator, with any [`Optimiser`] | on large data, and for densities with kinks |
//! | [`AutoSearch`] | the first where it is cheaper, else the second | by default |
//!
//! All are [`ModeFinder`]s. Gains are measured in log posterior: a point one tenth of a posterior standard deviation off the mode in each
//! of d directions is 0.005 d below it.

mod adam;
mod auto;
mod lbfgs;
mod line;
mod newton;
mod search;
mod sgd;

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use adam::Adam;
pub use auto::AutoSearch;
pub use lbfgs::LbfgsSearch;
pub use search::{ModeSearch, Stop};
pub use sgd::Sgd;

use crate::engine::Evaluator;
use crate::error::Result;
use crate::minibatch::{Minibatch, Scheme};
use crate::rng::ChainRng;

/// The gain in log posterior that does not matter to a sampler: a tenth of a posterior standard deviation in one direction.
pub const NEGLIGIBLE_GAIN: f64 = 0.005;

/// A search for the posterior mode.
pub trait ModeFinder: Send + Sync {
    /// Searches from `start`. Searches on minibatches draw them by `minibatches`; without it they use all observations at every step.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or the search diverges, and the model's error at the start.
    fn find<S: Scheme>(&self, evaluator: Box<dyn Evaluator>, minibatches: Option<S>, start: &[f64]) -> Result<Mode>;
}

/// The number of observations in a minibatch, from drawing one.
fn minibatch_size<S: Scheme>(scheme: &S, observations: usize) -> Result<usize> {
    let mut state = scheme.init(observations)?;
    let mut batch = Minibatch::default();
    scheme.draw(&mut state, ChainRng::new(0, 0).minibatch(), &mut batch);
    Ok(batch.rows.len().max(1))
}

/// A step of an optimiser. Immutable; what it remembers is its state.
pub trait Optimiser: Send + Sync {
    /// What the next step needs.
    type State: Clone + Send + Serialize + DeserializeOwned;

    /// The state before the first step of `dim` parameters.
    fn init(&self, dim: usize) -> Self::State;

    /// Moves `theta` along the gradient `g`, with the step size multiplied by `rate`.
    fn step(&self, state: &mut Self::State, rate: f64, theta: &mut [f64], g: &[f64]);
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The gain that is left is below the tolerance. [`LbfgsSearch`] verifies it with the Hessian; [`ModeSearch`] says so where the log
    /// posterior has stopped growing.
    Converged,
    /// The last iteration allowed was reached.
    IterationLimit,
    /// No better point was found although a Newton step promises more than the tolerance, or the promise cannot be known: a density with a
    /// kink, arithmetic that is not precise enough, or a Hessian that is not positive definite.
    Stalled,
}

/// The best point found, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// The point.
    pub theta: Vec<f64>,
    /// log p(θ|x) there, up to the normalising constant, over all observations.
    pub log_posterior: f64,
    /// The Euclidean norm of the exact gradient there.
    pub gradient_norm: f64,
    /// log p(θ|x) where the search began.
    pub start_log_posterior: f64,
    /// Steps taken.
    pub iterations: u64,
    /// Passes over all observations.
    pub full_passes: u64,
    /// Why the search ended.
    pub ending: Ending,
    /// The gain in log posterior that a Newton step from the point promises, gᵀH⁻¹g/2. `None` if it was not computed, as after searches on
    /// minibatches, or if the Hessian is not positive definite.
    #[serde(default)]
    pub promised_gain: Option<f64>,
}

impl Mode {
    /// Returns whether the point is close enough to the mode for a sampler: the search converged, or a Newton step promises no more than
    /// [`NEGLIGIBLE_GAIN`].
    pub fn is_close(&self) -> bool {
        self.ending == Ending::Converged || self.promised_gain.is_some_and(|gain| gain <= NEGLIGIBLE_GAIN)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.ending {
            Ending::Converged => "converged",
            Ending::IterationLimit => "stopped at the iteration limit",
            Ending::Stalled => "stalled",
        };
        write!(
            f,
            "{ending} after {} steps and {} full passes: log posterior {:.3} (from {:.3}), gradient norm {:.3e}",
            self.iterations, self.full_passes, self.log_posterior, self.start_log_posterior, self.gradient_norm
        )?;
        match self.promised_gain {
            Some(gain) => write!(f, ", a Newton step promises {gain:.1e} more"),
            None => Ok(()),
        }
    }
}
