//! Searches for the posterior mode, the center of control variates and a start for chains.
//!
//! | search | gradients | use |
//! |---|---|---|
//! | [`LbfgsSearch`] | of all observations | if about a hundred passes over the data are affordable; the most accurate |
//! | [`ModeSearch`] | of any estimator, with any [`Optimizer`] | for large data, and for densities with kinks |
//! | [`AutoSearch`] | the cheaper of the two | the default |
//!
//! All of them implement [`ModeFinder`]. Gains are differences of the log posterior: a point that is one tenth of a
//! posterior standard deviation away from the mode in each of d directions is 0.005 d below the mode.

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
pub use search::{ModeSearch, StopRule};
pub use sgd::Sgd;

use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::minibatch::{Minibatch, Scheme};
use crate::rng::ChainRng;

/// The gain in log posterior that is negligible for a sampler: a tenth of a posterior standard deviation in one
/// direction.
pub const NEGLIGIBLE_GAIN: f64 = 0.005;

/// A search for the posterior mode.
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::mode::{AutoSearch, ModeFinder};
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 6.0], [3])?)?;
/// let evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let mode = AutoSearch::default().find(evaluator, None::<WithoutReplacement>, &[0.0])?;
/// assert!((mode.theta[0] - 3.0).abs() < 1e-4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait ModeFinder: Send + Sync {
    /// Searches from the coordinates `start`. `minibatches` is the scheme of searches on minibatches; without it they
    /// use all observations in every step.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or if the search diverges, or the error of the model at `start`.
    fn find<S: Scheme>(&self, evaluator: Box<dyn Evaluator>, minibatches: Option<S>, start: &[f64]) -> Result<Mode>;
}

/// Returns the number of observations of the first minibatch of `scheme`.
fn minibatch_size<S: Scheme>(scheme: &S, observations: usize) -> Result<usize> {
    let mut state = scheme.init(observations)?;
    let mut batch = Minibatch::default();
    scheme.draw(&mut state, ChainRng::new(0, 0).minibatch(), &mut batch);
    Ok(batch.rows.len().max(1))
}

/// The update rule of a stochastic optimizer.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::{Optimizer, Sgd};
///
/// let optimizer = Sgd { step_size: 0.1 };
/// let mut theta = [1.0, 2.0];
/// optimizer.step(&mut optimizer.init(2), 1.0, &mut theta, &[10.0, -10.0]);
/// assert_eq!(theta, [2.0, 1.0]);
/// ```
pub trait Optimizer: Send + Sync {
    /// The state that changes between steps.
    type State: Clone + Send + Serialize + DeserializeOwned;

    /// Returns the state before the first step, for `dim` coordinates.
    fn init(&self, dim: usize) -> Self::State;

    /// Moves `theta` along the gradient `g`, with the step size multiplied by `rate`.
    fn step(&self, state: &mut Self::State, rate: f64, theta: &mut [f64], g: &[f64]);
}

/// The reason why a search ended.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::{LbfgsSearch, SearchOutcome};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.powi_scalar(4).sum() * -1.0);
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let search = LbfgsSearch { max_iterations: 1, ..LbfgsSearch::default() };
/// let mode = search.run(evaluator.as_mut(), &[1.0, 2.0])?;
/// assert_eq!(mode.outcome, SearchOutcome::IterationLimit);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchOutcome {
    /// The remaining gain is below the tolerance. [`LbfgsSearch`] verifies this with the Hessian. [`ModeSearch`]
    /// returns it if the log posterior no longer increases.
    Converged,
    /// The search reached the maximum number of iterations.
    IterationLimit,
    /// No better point was found although the predicted gain of a Newton step is above the tolerance, or the predicted
    /// gain cannot be computed. Possible causes are a density with a kink, insufficient precision, or a Hessian that is
    /// not positive definite.
    Stalled,
}

/// The result of a search for the mode: the best point found, and statistics of the search.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::LbfgsSearch;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| (theta - 3.0).square().sum().neg());
/// let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
/// let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0, 0.0])?;
/// assert!(mode.is_close() && mode.log_posterior > mode.start_log_posterior);
/// println!("{mode}");
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// The coordinates of the point.
    pub theta: Vec<f64>,
    /// log p(θ|x) at the point over all observations, up to the normalizing constant.
    pub log_posterior: f64,
    /// The Euclidean norm of the exact gradient at the point.
    pub gradient_norm: f64,
    /// log p(θ|x) at the start of the search.
    pub start_log_posterior: f64,
    /// The number of steps.
    pub iterations: u64,
    /// The number of passes over all observations.
    pub full_passes: u64,
    /// The reason why the search ended.
    pub outcome: SearchOutcome,
    /// The predicted gain gᵀH⁻¹g/2 in log posterior of a Newton step from the point. `None` if it was not computed, as
    /// after searches on minibatches, or if the Hessian is not positive definite.
    #[serde(default)]
    pub predicted_gain: Option<f64>,
}

impl Mode {
    /// Returns `true` if the point is close enough to the mode for a sampler: if the search converged, or the predicted
    /// gain of a Newton step is at most [`NEGLIGIBLE_GAIN`].
    pub fn is_close(&self) -> bool {
        self.outcome == SearchOutcome::Converged || self.predicted_gain.is_some_and(|gain| gain <= NEGLIGIBLE_GAIN)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            SearchOutcome::Converged => "converged",
            SearchOutcome::IterationLimit => "stopped at the iteration limit",
            SearchOutcome::Stalled => "stalled",
        };
        write!(
            f,
            "{outcome} after {} steps and {} full passes: log posterior {:.3} (from {:.3}), gradient norm {:.3e}",
            self.iterations, self.full_passes, self.log_posterior, self.start_log_posterior, self.gradient_norm
        )?;
        match self.predicted_gain {
            Some(gain) => write!(f, ", predicted gain of a Newton step {gain:.1e}"),
            None => Ok(()),
        }
    }
}
