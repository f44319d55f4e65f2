//! Markov chains: the object-safe traits [`Chain`] and [`GradientChain`], and their implementation for any algorithm.

mod divergence;
mod typed;

pub use typed::{ChainSpec, TypedChain};

use std::fmt;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Evaluator, Layout, Minibatch, Result};

use crate::prediction::PredictionPlan;
use sgmcmc_fit::Bias;

/// Information about the last step of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepInfo {
    /// The number of steps taken.
    pub iterations: u64,
    /// The estimate of the log density that belongs to the last gradient: log p(θ|x) + T log |J|, where T is the
    /// temperature and |J| the Jacobian of the constraints (1 without constraints). The coordinates are sampled from
    /// this density to the power 1/T.
    ///
    /// A chain that does not evaluate its density reports 0: a value that is not finite counts as undefined and ends a
    /// chain after some iterations, see [`Builder::non_finite_limit`](crate::Builder::non_finite_limit).
    pub log_posterior: f64,
    /// The step size of the last step. It is the weight of the draw. An algorithm that adapts its step size multiplies
    /// it by the factor of the next step, see [`Dynamics::step_factor`](crate::dynamics::Dynamics::step_factor).
    /// A chain without a step size reports 1.
    pub step_size: f64,
    /// The temperature of the last step. Densities and gradients in the state of the chain belong to this temperature.
    pub temperature: f64,
    /// True if the last step made a draw to keep, false while an algorithm explores or adapts.
    // The field has had this name in checkpoints since their first format.
    #[serde(rename = "counts")]
    pub keeps_draw: bool,
}

impl StepInfo {
    /// Returns the information about `iterations` steps of a chain without step size, temperature or density: each draw
    /// is kept and has weight one, and the log posterior is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::algorithms::StepInfo;
    ///
    /// let info = StepInfo { log_posterior: -3.0, ..StepInfo::new(10) };
    /// assert_eq!((info.iterations, info.step_size), (10, 1.0));
    /// ```
    #[must_use]
    pub fn new(iterations: u64) -> Self {
        Self { iterations, log_posterior: 0.0, step_size: 1.0, temperature: 1.0, keeps_draw: true }
    }
}

/// The computational cost of a chain so far.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Cost;
///
/// let cost = Cost { gradients: 1000, minibatch: 50 };
/// assert_eq!(cost.gradients * cost.minibatch as u64, 50_000); // observations
/// assert_eq!(Cost::default().gradients, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The number of gradient estimates.
    pub gradients: u64,
    /// The number of observations in the last minibatch; zero if the estimator has no minibatches.
    pub minibatch: usize,
}

/// A Markov chain as runs, sinks and checkpoints see it.
///
/// A sampler of any kind implements this trait to run with [`ChainRun`](crate::run::ChainRun): in parallel, with
/// sinks, checkpoints and progress reports. Chains of gradient algorithms also implement [`GradientChain`].
///
/// # Examples
///
/// A chain of independent draws, whose state is its generator and its last draw:
///
/// ```
/// use rand::RngExt;
/// use rand_distr::StandardNormal;
/// use sgmcmc::Layout;
/// use sgmcmc::algorithms::{Chain, StepInfo};
/// use sgmcmc::gradient::{Error, Result};
/// use sgmcmc::rng::ChainRng;
/// use sgmcmc::run::ChainRun;
///
/// #[derive(Debug)]
/// struct Draws {
///     layout: Layout,
///     rng: ChainRng,
///     x: Vec<f64>,
///     iterations: u64,
/// }
///
/// impl Chain for Draws {
///     fn step(&mut self) -> Result<()> {
///         self.x[0] = self.rng.noise().sample(StandardNormal);
///         self.iterations += 1;
///         Ok(())
///     }
///
///     fn position(&self) -> &[f64] {
///         &self.x
///     }
///
///     fn info(&self) -> StepInfo {
///         let log_posterior = -0.5 * self.x[0] * self.x[0];
///         StepInfo { log_posterior, ..StepInfo::new(self.iterations) }
///     }
///
///     fn layout(&self) -> &Layout {
///         &self.layout
///     }
///
///     fn save(&self) -> Result<Vec<u8>> {
///         let state = (&self.rng, &self.x, self.iterations);
///         serde_json::to_vec(&state).map_err(|error| Error::Checkpoint { reason: error.to_string() })
///     }
///
///     fn restore(&mut self, saved: &[u8]) -> Result<()> {
///         let state = serde_json::from_slice(saved);
///         (self.rng, self.x, self.iterations) = state.map_err(|e| Error::Checkpoint { reason: e.to_string() })?;
///         Ok(())
///     }
/// }
///
/// let make = |_chain: usize, rng: ChainRng| {
///     let chain = Draws { layout: Layout::vector("x", 1), rng, x: vec![0.0], iterations: 0 };
///     Ok(Box::new(chain) as Box<dyn Chain>)
/// };
/// let fit = ChainRun::new("standard normal draws", make).chains(2).sample(500)?;
/// assert!(fit.summary().rows()[0].mean.abs() < 0.2);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Chain: Send + fmt::Debug {
    /// Performs one iteration.
    ///
    /// # Errors
    ///
    /// Returns an error if the model fails or a coordinate is not finite. The chain then keeps its previous position.
    fn step(&mut self) -> Result<()>;

    /// Returns the coordinates.
    fn position(&self) -> &[f64];

    /// Returns information about the last step.
    fn info(&self) -> StepInfo;

    /// Returns the names, shapes and ranges of the parameters.
    fn layout(&self) -> &Layout;

    /// Serializes the complete state of the chain.
    ///
    /// # Errors
    ///
    /// Returns an error if the state cannot be encoded.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores the state that [`save`](Self::save) returned. The chain then continues bit for bit.
    ///
    /// # Errors
    ///
    /// Returns an error if `saved` is not a state of this chain.
    fn restore(&mut self, saved: &[u8]) -> Result<()>;

    /// Returns the number of interleaved Markov chains, see
    /// [`Dynamics::interleaved_chains`](crate::dynamics::Dynamics::interleaved_chains). The default is 1.
    fn interleaved_chains(&self) -> usize {
        1
    }

    /// Returns the names of the statistics that are recorded with every draw. The default is none.
    fn stat_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Writes the statistics into `out`, one per name.
    fn stats(&self, out: &mut [f64]) {
        let _ = out;
    }

    /// Returns the cost of the chain so far. The default is no gradient estimate.
    fn cost(&self) -> Cost {
        Cost::default()
    }

    /// Returns the number of observations of the model. The default is zero.
    fn observations(&self) -> usize {
        0
    }

    /// Returns whether the target is the exact stationary distribution of the chain. The default is `false`.
    fn is_exact(&self) -> bool {
        false
    }

    /// Predicts the bias of the chain from the curvature and the gradient noise at its position. The default makes no
    /// prediction.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    fn predict_bias(&mut self, plan: &PredictionPlan) -> Result<Bias> {
        let _ = plan;
        Ok(Bias::NotExamined("the chain does not predict its bias".into()))
    }

    /// Returns the relative increase of the variance by gradient noise in the worst direction at the position of the
    /// chain, from at least `observations` gradients of single observations.
    ///
    /// For Langevin algorithms this is the α of Welling & Teh (2011), eq. (10), with the matrix of the algorithm and
    /// the noise of the gradient estimator of the run.
    ///
    /// # Errors
    ///
    /// Returns the error of the model, for instance if the likelihood returns only its sum. The default is an error.
    fn noise_ratio(&mut self, observations: usize) -> Result<f64> {
        Err(Error::Setting {
            name: "the number of observations of a noise ratio",
            value: observations.to_string(),
            expected: "this chain has no gradient noise to measure",
        })
    }
}

/// A Markov chain that moves by estimates of the gradient of a model.
///
/// [`Sampler::chain`](crate::Sampler::chain) returns the chain of a sampler.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let mut sampler = ula(&model, &Dataset::none(), 0.1).start(&zeros([1]))?;
/// let chain = sampler.chain();
/// chain.step()?;
/// assert_eq!(chain.info().iterations, 1);
/// assert_eq!(chain.cost().gradients, 1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait GradientChain: Chain {
    /// Moves the chain to `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if `theta` has the wrong length or the model fails there.
    fn relocate(&mut self, theta: &[f64]) -> Result<()>;

    /// Writes the step size of every coordinate in the last step into `h`, times
    /// [`Dynamics::step_factor`](crate::dynamics::Dynamics::step_factor). It is zero for parameters that are held.
    fn step_sizes(&self, h: &mut [f64]);

    /// Returns the evaluator of the model, with all its parameters.
    fn evaluator(&mut self) -> &mut dyn Evaluator;

    /// Returns the RNG stream of the noise of the chain.
    fn noise(&mut self) -> &mut StreamRng;

    /// Returns the minibatch of the last gradient. It is empty if the estimator has no minibatches.
    fn minibatch(&self) -> &Minibatch;
}
