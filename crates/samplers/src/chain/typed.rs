//! Chains of any algorithm on any gradient estimator.

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::estimator::OracleState;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ChainRng, Error, Evaluator, GradientEstimator, Layout, Minibatch, Oracle, Result, Split};

use super::divergence::check_finite;
use super::{Chain, Cost, GradientChain, StepInfo};
use crate::dynamics::{Dynamics, HasPosition};
use crate::prediction::{BiasPredictor, LastStep, PredictionPlan};
use crate::schedule::SharedSchedule;
use crate::step_size::{StepSchedule, StepSize};
use sgmcmc_fit::Bias;
use sgmcmc_fit::codec::{decode, encode};

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
    /// The position of the dynamics before the current step.
    before: Vec<f64>,
    /// The parameters that the dynamics do not move, if there are any.
    held: Option<Held>,
}

/// Parameters that the dynamics do not move.
#[derive(Debug)]
struct Held {
    split: Split,
    /// The held coordinates of each interleaved chain.
    coordinates: Vec<Vec<f64>>,
    /// All coordinates of the chain.
    position: Vec<f64>,
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
        self.start_holding(evaluator, theta, rng, None)
    }

    /// Creates a chain at the coordinates `theta` whose dynamics move only the free parameters of `split`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`start`](Self::start).
    pub fn start_holding(
        &self,
        evaluator: Box<dyn Evaluator>,
        theta: &[f64],
        rng: ChainRng,
        split: Option<Split>,
    ) -> Result<TypedChain<D, G>> {
        self.dynamics.check()?;
        evaluator.layout().check_length(theta)?;
        let held = split.clone().map(|split| {
            let coordinates = vec![split.held(theta); self.dynamics.interleaved_chains().max(1)];
            Held { split, coordinates, position: theta.to_vec() }
        });
        let mut oracle = Oracle::shared(self.gradient.clone(), evaluator, theta, rng)?.holding(split, theta);
        let theta = &held.as_ref().map_or_else(|| theta.to_vec(), |held| held.split.free(theta));
        let mut step_schedule = self.step_size.resolve(oracle.layout(), &self.temperature)?;
        let context = step_schedule.context(0)?;
        let (step_size, temperature) = (context.h, context.temperature);
        oracle.set_temperature(temperature);
        let state = self.dynamics.init(theta, context, &mut oracle)?;
        let step_size = step_size * self.dynamics.step_factor(&state);
        let info = StepInfo { iterations: 0, log_posterior: f64::NAN, step_size, temperature, keeps_draw: false };
        let (dynamics, before) = (self.dynamics.clone(), theta.clone());
        Ok(TypedChain { dynamics, oracle, step_schedule, state, info, before, held })
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

    /// Returns the index of the interleaved chain that moved last.
    fn current(&self) -> usize {
        let chains = self.dynamics.interleaved_chains().max(1) as u64;
        ((self.info.iterations + chains - 1) % chains) as usize
    }

    /// Updates the position of all parameters from that of the dynamics.
    fn update_position(&mut self) {
        let current = self.current();
        if let Some(Held { split, coordinates, position }) = &mut self.held {
            split.set_free(self.state.position(), position);
            split.set_held(&coordinates[current], position);
        }
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
        if let Some(held) = &self.held {
            let moving = (self.info.iterations % held.coordinates.len() as u64) as usize;
            self.oracle.set_held(&held.coordinates[moving]);
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
                self.update_position();
                Ok(())
            }
            Err(error) => {
                self.state.position_mut().copy_from_slice(&self.before);
                Err(error)
            }
        }
    }

    fn position(&self) -> &[f64] {
        match &self.held {
            Some(held) => &held.position,
            None => self.state.position(),
        }
    }

    fn info(&self) -> StepInfo {
        self.info
    }

    fn interleaved_chains(&self) -> usize {
        self.dynamics.interleaved_chains().max(1)
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
        self.oracle.model_layout()
    }

    fn observations(&self) -> usize {
        self.oracle.observations()
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
        let chain = (&self.state, self.oracle.state(), &self.info);
        match &self.held {
            Some(held) => encode(&(chain, &held.coordinates)),
            None => encode(&chain),
        }
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (state, oracle, info): Saved<D::State, G::State> = match &mut self.held {
            Some(held) => {
                let (chain, coordinates): (_, Vec<Vec<f64>>) = decode(saved)?;
                let lengths = |coordinates: &[Vec<f64>]| coordinates.iter().map(Vec::len).collect::<Vec<_>>();
                if lengths(&coordinates) != lengths(&held.coordinates) {
                    return Err(Error::Checkpoint { reason: "it holds other parameters".into() });
                }
                held.coordinates = coordinates;
                chain
            }
            None => decode(saved)?,
        };
        self.oracle.layout().check_length(state.position())?;
        self.oracle.restore(oracle);
        self.oracle.set_temperature(info.temperature);
        self.before.copy_from_slice(state.position());
        (self.state, self.info) = (state, info);
        self.update_position();
        if let Some(held) = &self.held {
            self.oracle.set_held(&held.coordinates[self.current()]);
        }
        Ok(())
    }
}

impl<D, G> GradientChain for TypedChain<D, G>
where
    G: GradientEstimator + fmt::Debug,
    D: Dynamics<G> + fmt::Debug,
{
    fn relocate(&mut self, theta: &[f64]) -> Result<()> {
        self.layout().check_length(theta)?;
        let current = self.current();
        let Some(Held { split, coordinates, .. }) = &mut self.held else {
            return self.dynamics.relocate(&mut self.state, theta, &mut self.oracle);
        };
        coordinates[current] = split.held(theta);
        self.oracle.set_held(&coordinates[current]);
        self.dynamics.relocate(&mut self.state, &split.free(theta), &mut self.oracle)?;
        self.update_position();
        Ok(())
    }

    fn step_sizes(&self, h: &mut [f64]) {
        let factor = self.dynamics.step_factor(&self.state);
        let blocks = self.step_schedule.blocks();
        match &self.held {
            Some(held) => {
                let mut free = vec![0.0; held.split.layout().dim()];
                blocks.iter().for_each(|block| free[block.range.clone()].fill(factor * block.h));
                h.fill(0.0);
                held.split.set_free(&free, h);
            }
            None => blocks.iter().for_each(|block| h[block.range.clone()].fill(factor * block.h)),
        }
    }

    fn evaluator(&mut self) -> &mut dyn Evaluator {
        self.oracle.parts().1
    }

    fn minibatch(&self) -> &Minibatch {
        &self.oracle.state().batch
    }

    fn noise(&mut self) -> &mut StreamRng {
        self.oracle.noise()
    }
}
