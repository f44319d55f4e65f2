//! Markov chains: the object-safe trait [`Chain`] and its implementation for any algorithm.

mod divergence;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::estimator::OracleState;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ChainRng, Evaluator, GradientEstimator, Layout, Oracle, Result};

use self::divergence::check_finite;
use crate::dynamics::{Dynamics, HasPosition};
use crate::prediction::{BiasPredictor, LastStep, PredictionPlan};
use crate::schedule::SharedSchedule;
use crate::step_size::{StepSchedule, StepSize};
use sgmcmc_fit::Bias;
use sgmcmc_fit::codec::{decode, encode};

/// Information about the last step of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepInfo {
    /// The number of steps taken.
    pub iterations: u64,
    /// The estimate of the log density that belongs to the last gradient: log p(θ|x) + T log |J|, where T is the
    /// temperature and |J| the Jacobian of the constraints (1 without constraints). The coordinates are sampled from
    /// this density to the power 1/T.
    pub log_posterior: f64,
    /// The step size of the last step. It is the weight of the draw. An algorithm that adapts its step size multiplies
    /// it by the factor of the next step, see [`Dynamics::step_factor`].
    pub step_size: f64,
    /// The temperature of the last step. Densities and gradients in the state of the chain belong to this temperature.
    pub temperature: f64,
    /// True if the last step made a draw to keep, false while an algorithm explores or adapts.
    // The field has had this name in checkpoints since their first format.
    #[serde(rename = "counts")]
    pub keeps_draw: bool,
}

/// The computational cost of a chain so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The number of gradient estimates.
    pub gradients: u64,
    /// The number of observations in the last minibatch; zero if the estimator has no minibatches.
    pub minibatch: usize,
}

/// A Markov chain of any algorithm on any gradient estimator.
///
/// Runs, sinks, Gibbs updates and checkpoints work with this trait only. [`Sampler::chain`](crate::Sampler::chain)
/// returns the chain of a sampler.
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
pub trait Chain: Send + fmt::Debug {
    /// Performs one iteration.
    ///
    /// # Errors
    ///
    /// Returns an error if the model fails or a coordinate is not finite. The chain then keeps its previous position.
    fn step(&mut self) -> Result<()>;

    /// Returns the coordinates.
    fn position(&self) -> &[f64];

    /// Moves the chain to `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if `theta` has the wrong length or the model fails there.
    fn relocate(&mut self, theta: &[f64]) -> Result<()>;

    /// Returns information about the last step.
    fn info(&self) -> StepInfo;

    /// Returns the number of interleaved Markov chains, see [`Dynamics::interleaved_chains`].
    fn interleaved_chains(&self) -> usize;

    /// Writes the step size of every coordinate in the last step into `h`, times [`Dynamics::step_factor`].
    fn step_sizes(&self, h: &mut [f64]);

    /// Returns the names of the statistics of the algorithm that are recorded with every draw.
    fn stat_names(&self) -> Vec<String>;

    /// Writes the statistics into `out`, one per name.
    fn stats(&self, out: &mut [f64]);

    /// Returns the cost of the chain so far.
    fn cost(&self) -> Cost;

    /// Returns the names, shapes and ranges of the parameters.
    fn layout(&self) -> &Layout;

    /// Returns the evaluator of the model.
    fn evaluator(&mut self) -> &mut dyn Evaluator;

    /// Returns the RNG stream of the noise of the chain.
    fn noise(&mut self) -> &mut StreamRng;

    /// Returns the relative increase of the variance by gradient noise in the worst direction at the position of the
    /// chain, from at least `observations` gradients of single observations.
    ///
    /// For Langevin algorithms this is the α of Welling & Teh (2011), eq. (10), with the matrix of the algorithm and
    /// the noise of the gradient estimator of the run.
    ///
    /// # Errors
    ///
    /// Returns the error of the model, for instance if the likelihood returns only its sum.
    fn noise_ratio(&mut self, observations: usize) -> Result<f64>;

    /// Returns whether the target is the exact stationary distribution of the chain.
    fn is_exact(&self) -> bool;

    /// Predicts the bias of the chain from the curvature and the gradient noise at its position.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    fn predict_bias(&mut self, plan: &PredictionPlan) -> Result<Bias>;

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
}

/// A chain of the algorithm `D` on the gradient estimator `G`.
#[derive(Debug)]
pub struct TypedChain<D, G>
where
    G: GradientEstimator,
    D: Dynamics<G>,
{
    dynamics: Arc<D>,
    oracle: Oracle<G>,
    step_schedule: StepSchedule,
    state: D::State,
    info: StepInfo,
    /// The position before the current step.
    before: Vec<f64>,
}

/// The serialized state of a chain: the states of the algorithm and of the oracle, and the last step.
type Saved<D, G> = (D, OracleState<G>, StepInfo);

/// The algorithm, estimator and schedules that all chains of a run share.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Chain, ChainSpec, Sgld};
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::ChainRng;
/// use std::sync::Arc;
///
/// let posterior = Model::density(|x: Tensor<1>| x.square() * -0.5).with(&Dataset::none());
/// let (dynamics, gradient) = (Arc::new(Sgld), Arc::new(FullGradient));
/// let spec = ChainSpec { dynamics, gradient, step_size: 0.1.into(), temperature: 1.0.into() };
/// let mut chain = spec.start(posterior.evaluator(&zeros([1]))?, &[0.0], ChainRng::new(1, 0))?;
/// chain.step()?;
/// assert_eq!(chain.info().iterations, 1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct ChainSpec<D, G> {
    /// The algorithm.
    pub dynamics: Arc<D>,
    /// The gradient estimator.
    pub gradient: Arc<G>,
    /// The step sizes.
    pub step_size: StepSize,
    /// The temperature T; the values of the parameters are sampled from p(θ|x)^{1/T}.
    pub temperature: SharedSchedule,
}

impl<D, G> Clone for ChainSpec<D, G> {
    fn clone(&self) -> Self {
        Self {
            dynamics: self.dynamics.clone(),
            gradient: self.gradient.clone(),
            step_size: self.step_size.clone(),
            temperature: self.temperature.clone(),
        }
    }
}

impl<D, G> ChainSpec<D, G>
where
    G: GradientEstimator,
    D: Dynamics<G>,
{
    /// Creates a chain at the coordinates `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, and the errors of the estimator and the model.
    pub fn start(&self, evaluator: Box<dyn Evaluator>, theta: &[f64], rng: ChainRng) -> Result<TypedChain<D, G>> {
        self.dynamics.check()?;
        evaluator.layout().check_length(theta)?;
        let mut step_schedule = self.step_size.resolve(evaluator.layout(), &self.temperature)?;
        let mut oracle = Oracle::shared(self.gradient.clone(), evaluator, theta, rng)?;
        let context = step_schedule.context(0)?;
        let (step_size, temperature) = (context.h, context.temperature);
        oracle.set_temperature(temperature);
        let state = self.dynamics.init(theta, context, &mut oracle)?;
        let step_size = step_size * self.dynamics.step_factor(&state);
        let info = StepInfo { iterations: 0, log_posterior: f64::NAN, step_size, temperature, keeps_draw: false };
        Ok(TypedChain { dynamics: self.dynamics.clone(), oracle, step_schedule, state, info, before: theta.to_vec() })
    }
}

impl<D, G> TypedChain<D, G>
where
    G: GradientEstimator,
    D: Dynamics<G>,
{
    /// Multiplies `v` by F, where M = F Fᵀ is the matrix of the next step.
    pub(crate) fn apply_root(&mut self, v: &mut [f64]) -> Result<()> {
        self.dynamics.apply_root(&mut self.state, v, false)
    }

    /// Returns a predictor of the bias of this chain, for `step_scale` times the step sizes of the last step.
    fn bias_predictor(&mut self, step_scale: f64) -> BiasPredictor<'_, D, D::State, G> {
        let last = LastStep { blocks: self.step_schedule.blocks(), temperature: self.info.temperature };
        let step_scale = step_scale * self.dynamics.step_factor(&self.state);
        BiasPredictor::new(&*self.dynamics, &mut self.state, &mut self.oracle, last, step_scale)
    }
}

impl<D, G> Chain for TypedChain<D, G>
where
    G: GradientEstimator + fmt::Debug,
    D: Dynamics<G> + fmt::Debug,
{
    fn step(&mut self) -> Result<()> {
        self.before.copy_from_slice(self.state.position());
        let context = self.step_schedule.context(self.info.iterations)?;
        let (step_size, temperature) = (context.h, context.temperature);
        let from = self.info.temperature;
        if temperature.to_bits() != from.to_bits() {
            self.oracle.set_temperature(temperature);
            if self.oracle.layout().is_constrained() {
                self.dynamics.retemper(&mut self.state, &self.before, from, &mut self.oracle)?;
            }
            self.info.temperature = temperature;
        }
        let outcome = self.dynamics.step(&mut self.state, context, &mut self.oracle).and_then(|log_posterior| {
            let iterations = self.info.iterations + 1;
            check_finite(self.state.position(), self.oracle.layout(), iterations)?;
            let keeps_draw = self.dynamics.keeps_draw(&self.state);
            let step_size = step_size * self.dynamics.step_factor(&self.state);
            Ok(StepInfo { iterations, log_posterior, step_size, temperature, keeps_draw })
        });
        match outcome {
            Ok(info) => {
                self.info = info;
                Ok(())
            }
            Err(error) => {
                self.state.position_mut().copy_from_slice(&self.before);
                Err(error)
            }
        }
    }

    fn position(&self) -> &[f64] {
        self.state.position()
    }

    fn relocate(&mut self, theta: &[f64]) -> Result<()> {
        self.layout().check_length(theta)?;
        self.dynamics.relocate(&mut self.state, theta, &mut self.oracle)
    }

    fn info(&self) -> StepInfo {
        self.info
    }

    fn interleaved_chains(&self) -> usize {
        self.dynamics.interleaved_chains().max(1)
    }

    fn step_sizes(&self, h: &mut [f64]) {
        let factor = self.dynamics.step_factor(&self.state);
        self.step_schedule.blocks().iter().for_each(|block| h[block.range.clone()].fill(factor * block.h));
    }

    fn stat_names(&self) -> Vec<String> {
        self.dynamics.stat_names(self.oracle.layout())
    }

    fn stats(&self, out: &mut [f64]) {
        self.dynamics.stats(&self.state, out);
    }

    fn cost(&self) -> Cost {
        let state = self.oracle.state();
        Cost { gradients: state.estimates, minibatch: state.batch.rows.len() }
    }

    fn layout(&self) -> &Layout {
        self.oracle.layout()
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.oracle.evaluator()
    }

    fn noise(&mut self) -> &mut StreamRng {
        self.oracle.noise()
    }

    fn noise_ratio(&mut self, observations: usize) -> Result<f64> {
        let seed = self.info.iterations;
        self.bias_predictor(1.0).noise_ratio(observations, seed)
    }

    fn is_exact(&self) -> bool {
        self.dynamics.is_exact()
    }

    fn predict_bias(&mut self, plan: &PredictionPlan) -> Result<Bias> {
        if self.dynamics.is_exact() {
            return Ok(Bias::Exact);
        }
        self.bias_predictor(plan.step_scale).predict(plan)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.state, self.oracle.state(), &self.info))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (state, oracle, info): Saved<D::State, G::State> = decode(saved)?;
        self.layout().check_length(state.position())?;
        self.oracle.restore(oracle);
        self.oracle.set_temperature(info.temperature);
        self.before.copy_from_slice(state.position());
        (self.state, self.info) = (state, info);
        Ok(())
    }
}
