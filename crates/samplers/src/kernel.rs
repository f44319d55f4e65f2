//! A chain under way, whatever moves it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_core::gradient::OracleState;
use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{ChainRng, Error, Evaluator, GradientEstimator, Layout, Oracle, Result};

use crate::dynamics::{Dynamics, Positioned};
use crate::fit::Bias;
use crate::prediction::{LastStep, PredictionPlan, Subject};
use crate::run::{decode, encode};
use crate::schedule::SharedSchedule;
use crate::step_size::{Pace, StepSize};

/// What is known of the last step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepInfo {
    /// How many steps were taken.
    pub iterations: u64,
    /// The estimate of the log density that came with the last gradient: log p(θ|x) + T log |J|, with T the temperature and |J| the
    /// Jacobian of the constraints (1 without any). The coordinates are sampled from this density to the power 1/T.
    pub log_posterior: f64,
    /// The step size of the last step: the weight of the draw it made.
    pub step_size: f64,
    /// The temperature of the last step. Densities and gradients that the chain keeps are those at this temperature.
    pub temperature: f64,
    /// Whether the draw the last step made counts; it does not while an algorithm only explores.
    pub counts: bool,
}

/// What a chain has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Gradient estimates made.
    pub gradients: u64,
    /// Observations in the last minibatch; zero where there are none.
    pub minibatch: usize,
}

/// A Markov chain: the only thing that runs, sinks, Gibbs steps and checkpoints know.
pub trait Kernel: Send + fmt::Debug {
    /// Moves the chain by one iteration.
    ///
    /// # Errors
    ///
    /// If the model fails, or a coordinate is no longer a finite number; the chain then stands where it stood before.
    fn step(&mut self) -> Result<()>;

    /// The coordinates.
    fn position(&self) -> &[f64];

    /// Puts the chain elsewhere.
    fn relocate(&mut self, theta: &[f64]) -> Result<()>;

    /// What is known of the last step.
    fn info(&self) -> StepInfo;

    /// The number of Markov chains that take turns, see [`Dynamics::interleaved_chains`].
    fn interleaved_chains(&self) -> usize;

    /// Writes the step size of every coordinate in the last step into `h`.
    fn step_sizes(&self, h: &mut [f64]);

    /// The names of the numbers about the algorithm's state that come with every draw.
    fn stat_names(&self) -> Vec<String>;

    /// Writes those numbers into `out`, one per name.
    fn stats(&self, out: &mut [f64]);

    /// What the chain has cost so far.
    fn cost(&self) -> Cost;

    /// Names, shapes and places of the parameters.
    fn layout(&self) -> &Layout;

    /// What evaluates the model.
    fn evaluator(&mut self) -> &mut dyn Evaluator;

    /// The chain's own noise.
    fn noise(&mut self) -> &mut StreamRng;

    /// Returns by how much the noise of the gradient estimate widens the variance in the worst direction where the chain is, relative to the
    /// variance without it, from at least `observations` gradients of single observations. For Langevin algorithms this is the α of
    /// Welling & Teh (2011), eq. (10), with the matrix of the algorithm and the noise of the run's own estimator.
    ///
    /// # Errors
    ///
    /// Returns the error of the model, for instance if the likelihood returns only its sum.
    fn noise_ratio(&mut self, observations: usize) -> Result<f64>;

    /// Returns whether the chain has the target as its exact stationary law.
    fn is_exact(&self) -> bool;

    /// Predicts the bias of the chain from the curvature and the gradient noise where it is.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    fn predict_bias(&mut self, plan: &PredictionPlan) -> Result<Bias>;

    /// All that the chain needs to go on, as bytes.
    fn save(&self) -> Result<Vec<u8>>;

    /// Goes on from what [`save`](Self::save) gave, bit for bit.
    fn restore(&mut self, saved: &[u8]) -> Result<()>;
}

/// One algorithm on one estimator: what moves a chain.
#[derive(Debug)]
pub struct Chain<D, G>
where
    G: GradientEstimator,
    D: Dynamics<G>,
{
    dynamics: Arc<D>,
    oracle: Oracle<G>,
    pace: Pace,
    state: D::State,
    info: StepInfo,
    /// Where the chain stood before the step under way.
    before: Vec<f64>,
}

/// All of a chain that a checkpoint must hold: the states of the algorithm and of the oracle, and the last step.
type Saved<D, G> = (D, OracleState<G>, StepInfo);

/// What a chain is made of, shared by the chains of a run.
#[derive(Debug)]
pub struct Recipe<D, G> {
    /// The algorithm.
    pub dynamics: Arc<D>,
    /// The estimator.
    pub gradient: Arc<G>,
    /// The step sizes.
    pub step_size: StepSize,
    /// The temperature T; the values of the parameters are sampled from p(θ|x)^{1/T}.
    pub temperature: SharedSchedule,
}

impl<D, G> Clone for Recipe<D, G> {
    fn clone(&self) -> Self {
        Self {
            dynamics: self.dynamics.clone(),
            gradient: self.gradient.clone(),
            step_size: self.step_size.clone(),
            temperature: self.temperature.clone(),
        }
    }
}

impl<D, G> Recipe<D, G>
where
    G: GradientEstimator,
    D: Dynamics<G>,
{
    /// A chain about to start at the coordinates `theta`.
    ///
    /// # Errors
    ///
    /// If a setting is out of range, or as estimator and model do.
    pub fn start(&self, evaluator: Box<dyn Evaluator>, theta: &[f64], rng: ChainRng) -> Result<Chain<D, G>> {
        self.dynamics.check()?;
        evaluator.layout().check_length(theta)?;
        let mut pace = self.step_size.resolve(evaluator.layout(), &self.temperature)?;
        let mut oracle = Oracle::shared(self.gradient.clone(), evaluator, theta, rng)?;
        let tick = pace.tick(0)?;
        let (step_size, temperature) = (tick.h, tick.temperature);
        oracle.set_temperature(temperature);
        let state = self.dynamics.init(theta, tick, &mut oracle)?;
        let info = StepInfo { iterations: 0, log_posterior: f64::NAN, step_size, temperature, counts: false };
        Ok(Chain { dynamics: self.dynamics.clone(), oracle, pace, state, info, before: theta.to_vec() })
    }
}

impl<D, G> Chain<D, G>
where
    G: GradientEstimator,
    D: Dynamics<G>,
{
    /// Multiplies `v` by F, M = F Fᵀ the matrix of the next step.
    pub(crate) fn apply_root(&mut self, v: &mut [f64]) -> Result<()> {
        self.dynamics.apply_root(&mut self.state, v, false)
    }

    /// The chain with the step sizes of its last step times `step_scale`, to be examined.
    fn subject(&mut self, step_scale: f64) -> Subject<'_, D, D::State, G> {
        let last = LastStep { pieces: self.pace.pieces(), temperature: self.info.temperature };
        Subject::new(&*self.dynamics, &mut self.state, &mut self.oracle, last, step_scale)
    }
}

impl<D, G> Kernel for Chain<D, G>
where
    G: GradientEstimator + fmt::Debug,
    D: Dynamics<G> + fmt::Debug,
{
    fn step(&mut self) -> Result<()> {
        self.before.copy_from_slice(self.state.position());
        let tick = self.pace.tick(self.info.iterations)?;
        let (step_size, temperature) = (tick.h, tick.temperature);
        let from = self.info.temperature;
        if temperature.to_bits() != from.to_bits() {
            self.oracle.set_temperature(temperature);
            if self.oracle.layout().is_constrained() {
                self.dynamics.retemper(&mut self.state, &self.before, from, &mut self.oracle)?;
            }
            self.info.temperature = temperature;
        }
        let outcome = self.dynamics.step(&mut self.state, tick, &mut self.oracle).and_then(|log_posterior| {
            let iterations = self.info.iterations + 1;
            check_finite(self.state.position(), self.oracle.layout(), iterations)?;
            let counts = self.dynamics.counts(&self.state);
            Ok(StepInfo { iterations, log_posterior, step_size, temperature, counts })
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
        self.pace.pieces().iter().for_each(|piece| h[piece.range.clone()].fill(piece.h));
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
        self.subject(1.0).noise_ratio(observations, seed)
    }

    fn is_exact(&self) -> bool {
        self.dynamics.is_exact()
    }

    fn predict_bias(&mut self, plan: &PredictionPlan) -> Result<Bias> {
        if self.dynamics.is_exact() {
            return Ok(Bias::Exact);
        }
        self.subject(plan.step_scale).predict(plan)
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

/// Beyond this a coordinate is as good as infinite.
const BOUND: f64 = 1e100;

fn check_finite(theta: &[f64], layout: &Layout, iteration: u64) -> Result<()> {
    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true of NaN too, by one comparison")]
    let bad = |value: &f64| !(value.abs() <= BOUND);
    // Pieces are looked through without a branch; number by number only where there is something to find.
    let piece = theta.chunks(64).position(|piece| piece.iter().fold(false, |found, value| found | bad(value)));
    match piece.and_then(|piece| theta.iter().skip(64 * piece).position(bad).map(|index| 64 * piece + index)) {
        None => Ok(()),
        Some(index) => {
            let (what, element, value) = diverged(theta, layout, index);
            Err(Error::Diverged { what, element, value, iteration, remedy: "use a smaller step size" })
        }
    }
}

/// Coordinate `index` as the user knows it: the value that belongs to it, where there is one that is as far off.
fn diverged(theta: &[f64], layout: &Layout, index: usize) -> (&'static str, String, f64) {
    let block = layout.blocks().iter().find(|block| block.range.contains(&index));
    let constrained = block.is_some_and(|block| block.constraint.is_some());
    let one_to_one = block.filter(|block| constrained && block.range.len() == block.values.len());
    let value = one_to_one.and_then(|block| {
        let place = block.values.start + index - block.range.start;
        layout.values(theta).ok().map(|values| values[place])
    });
    match value {
        Some(value) => ("the value", layout.coordinate(index), value),
        None if constrained => ("the unconstrained coordinate", layout.coordinate(index), theta[index]),
        None => ("the value", layout.coordinate(index), theta[index]),
    }
}
