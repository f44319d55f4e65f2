//! Evaluators: the log density of a model and its gradient, on flat `f64` slices.
//!
//! Estimators, mode searches and samplers use a model only through [`Evaluator`]. Models that are closures over tensors
//! implement [`Target`] in the crate `sgmcmc-core`. Models with a hand-written gradient implement [`AnalyticModel`].

mod analytic;
mod conditional;
mod identity;

pub use analytic::{Analytic, AnalyticEvaluator, AnalyticModel};
pub(crate) use conditional::Conditional;
pub use identity::ModelIdentity;

use std::sync::Arc;

use crate::data::{Precision, Rows};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::layout::Layout;
use crate::rng::StreamRng;

/// A density to sample from or to maximize.
///
/// A target creates one [`Evaluator`] per chain, and converts between the typed parameters of the caller and the flat
/// vector of coordinates that chains move.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::Target;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let target = model.with(&Dataset::none());
/// let start = zeros([3]);
/// let layout = Target::layout(&target, &start)?;
/// assert_eq!(target.flatten(&layout, &start)?, [0.0; 3]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Target: Send + Sync + 'static {
    /// The typed parameters.
    type Params: Send + Sync + 'static;

    /// Creates an evaluator for parameters with the structure of `start`.
    ///
    /// # Errors
    ///
    /// Returns an error if the density cannot be evaluated at `start`.
    fn evaluator(&self, start: &Self::Params) -> Result<Box<dyn Evaluator>>;

    /// Returns the names, shapes and constraints of `params`.
    ///
    /// # Errors
    ///
    /// Returns an error if `params` cannot be the parameters of this target.
    fn layout(&self, params: &Self::Params) -> Result<Layout>;

    /// Returns the coordinates of `params`.
    ///
    /// # Errors
    ///
    /// Returns an error if `params` does not have the structure of `layout`, or if a value is not finite or violates
    /// its constraint.
    fn flatten(&self, layout: &Layout, params: &Self::Params) -> Result<Vec<f64>>;

    /// Returns the parameters with the coordinates `theta` and the structure of `like`.
    ///
    /// # Errors
    ///
    /// Returns an error if the length of `theta` is not the number of coordinates of `layout`.
    fn unflatten(&self, layout: &Layout, like: &Self::Params, theta: &[f64]) -> Result<Self::Params>;

    /// Draws parameters with the structure of `like` from the prior.
    ///
    /// # Errors
    ///
    /// Returns an error if the target does not describe how parameters are drawn.
    fn draw_prior(&self, like: &Self::Params, rng: &mut StreamRng) -> Result<Self::Params> {
        let (_, _) = (like, rng);
        let reason = "it is a log density: give `Starts::drawn` a function that draws starts".into();
        Err(Error::NotGenerative { what: "parameters", reason })
    }

    /// Returns a fingerprint of the data, or `None` if the target has no data. The cost is a pass over the data.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }
}

impl<T: Target> Target for Arc<T> {
    type Params = T::Params;

    fn evaluator(&self, start: &Self::Params) -> Result<Box<dyn Evaluator>> {
        (**self).evaluator(start)
    }

    fn layout(&self, params: &Self::Params) -> Result<Layout> {
        (**self).layout(params)
    }

    fn flatten(&self, layout: &Layout, params: &Self::Params) -> Result<Vec<f64>> {
        (**self).flatten(layout, params)
    }

    fn unflatten(&self, layout: &Layout, like: &Self::Params, theta: &[f64]) -> Result<Self::Params> {
        (**self).unflatten(layout, like, theta)
    }

    fn draw_prior(&self, like: &Self::Params, rng: &mut StreamRng) -> Result<Self::Params> {
        (**self).draw_prior(like, rng)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        (**self).fingerprint()
    }
}

/// A model that is combined with data of type `Data` to form a target.
///
/// The presets of the samplers accept any model and data with this relation.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::ConditionOn;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 4.0], [3])?)?;
/// let posterior = model.condition_on(&data);
/// assert_eq!(posterior.evaluator(&zeros([1]))?.observations(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait ConditionOn<Data> {
    /// The density of the parameters given the data.
    type Target: Target;

    /// Returns the density of the parameters given `data`.
    fn condition_on(&self, data: &Data) -> Self::Target;
}

/// The log density of one model on one data set, with its gradient. Each chain has its own evaluator with its own
/// workspace.
///
/// Gradients are of the **log density**, and are *added* to `grad`.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Rows;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 4.0], [3])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let mut gradient = [0.0];
/// // The third observation with weight 10.
/// evaluator.posterior(&[2.0], Rows::range(2..3).scaled(10.0), &mut gradient)?;
/// assert_eq!(gradient, [20.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Evaluator: Send + std::fmt::Debug {
    /// Returns the layout of the parameters.
    fn layout(&self) -> &Layout;

    /// Returns the number N of observations.
    fn observations(&self) -> usize;

    /// Returns log p(θ) and adds its gradient to `grad`.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument has the wrong length or if the model fails.
    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64>;

    /// Returns Σᵢ wᵢ log p(xᵢ|θ) over `rows` and adds its gradient to `grad`.
    ///
    /// # Errors
    ///
    /// Returns an error if an argument has the wrong length, if an observation does not exist, or if the model fails.
    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64>;

    /// Returns log p(θ) + Σᵢ wᵢ log p(xᵢ|θ) over `rows` and adds its gradient to `grad`, in one pass if the engine
    /// supports it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`prior`](Self::prior) and [`likelihood`](Self::likelihood).
    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        Ok(self.prior(theta, grad)? + self.likelihood(theta, rows, grad)?)
    }

    /// Returns log p(θ) + Σᵢ wᵢ log p(xᵢ|θ) over `rows`, without the gradient.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`prior`](Self::prior) and [`likelihood`](Self::likelihood).
    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64>;

    /// Writes log p(xᵢ|θ) of each observation of `rows` into `out`, without temperature and weights.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`likelihood`](Self::likelihood), and an error if the likelihood returns only the sum over
    /// observations.
    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()>;

    /// Writes the gradient of each term of [`likelihood`](Self::likelihood) with weight one into `out`, a row-major
    /// matrix with one row per observation.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`likelihood`](Self::likelihood), and an error if the likelihood returns only the sum over
    /// observations.
    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()>;

    /// Returns an identifier of the model: a fingerprint of the recorded operations if the engine has them, and the log
    /// density and its gradient at points around `theta` otherwise.
    ///
    /// # Errors
    ///
    /// Returns the error of the model at one of these points.
    fn identity(&mut self, theta: &[f64]) -> Result<ModelIdentity> {
        identity::by_values(self, theta)
    }

    /// Returns the float type of the computation, which determines the accuracy of the results.
    fn precision(&self) -> Precision {
        Precision::Double
    }

    /// Sets the maximum number of threads of this evaluator. The default is one.
    fn set_threads(&mut self, threads: usize) {
        let _ = threads;
    }

    /// Allocates the workspace on the current thread. Chains call this before the first step, on the thread that runs
    /// them.
    ///
    /// Workspaces that one thread allocates for several chains can share cache lines, and writes from several cores to
    /// the same cache line are slow.
    ///
    /// # Errors
    ///
    /// Returns an error if the workspace cannot be allocated.
    fn allocate_on_this_thread(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns the number of coordinates.
    fn dim(&self) -> usize {
        self.layout().dim()
    }

    /// Returns the selection of all observations, with weight one.
    fn all_rows(&self) -> Rows<'static> {
        Rows::range(0..self.observations())
    }
}

/// Checks the arguments of an evaluation.
///
/// # Errors
///
/// Returns an error if the length of `theta` or `grad` is not the number of coordinates, or if an index in `rows` is
/// not less than `observations`.
pub fn check_arguments(
    layout: &Layout,
    observations: usize,
    theta: &[f64],
    grad: &[f64],
    rows: Rows<'_>,
) -> Result<()> {
    layout.check_length(theta)?;
    layout.check_length(grad)?;
    rows.check(observations)
}

/// Checks the length of an output.
///
/// # Errors
///
/// Returns [`Error::Length`] with the description `what` if `found` is not `expected`.
pub fn check_output(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
