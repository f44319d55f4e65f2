//! Cyclical SGLD: see [`CyclicalSgld`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Oracle, Result, settings};

use super::sgld;
use crate::dynamics::{Dynamics, HasPosition};
use crate::law::Direction;
use crate::step_size::StepContext;

/// Cyclical SGLD, for posteriors with several modes.
///
/// # Rule
///
/// The iterations are divided into cycles. The first part of a cycle is the exploration stage: the chain ascends
/// without noise, θ += h/2 ĝ(θ), and makes no draws. The rest is the sampling stage: the chain is [`Sgld`](super::Sgld)
/// and makes draws. Use it with the step sizes of [`CyclicalCosine`](crate::schedule::CyclicalCosine) of the same
/// period: the large steps at the start of a cycle move the chain to another mode. Both stages use the gradient at the
/// temperature of the run, so the exploration stage ascends the density of the coordinates that the sampling stage
/// samples from.
///
/// # Source
///
/// Zhang et al. (2020), algorithm 1.
///
/// # Cost
///
/// One gradient estimate per step. A share `exploration` of the steps makes no draws.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `period` | – | number of iterations per cycle | ≥ 1 |
/// | `exploration` | 0.25 | share of a cycle in the exploration stage | [0, 1) |
///
/// # Bias
///
/// The bias of SGLD within a mode. The number of draws in a mode depends on where the cycles end, so the weights of
/// modes are rough.
///
/// # When to use it
///
/// For multimodal posteriors, such as those of neural networks and mixtures.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::CyclicalSgld;
/// use sgmcmc::prelude::*;
/// use sgmcmc::schedule::CyclicalCosine;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let steps = CyclicalCosine { h: 0.2, period: 100 };
/// let fit = ula(&model, &Dataset::none(), steps).dynamics(CyclicalSgld::new(100)).sample(&zeros([1]), 150)?;
/// // Two cycles of 25 iterations of exploration and 75 draws.
/// assert_eq!(fit.info().iterations, [200]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclicalSgld {
    /// The number of iterations per cycle.
    pub period: u64,
    /// The share of a cycle in the exploration stage.
    pub exploration: f64,
}

impl CyclicalSgld {
    /// Creates cycles of `period` iterations, a quarter of each for exploration.
    pub fn new(period: u64) -> Self {
        Self { period, exploration: 0.25 }
    }

    /// Returns whether iteration `t`, counted from 0, is in the sampling stage of its cycle.
    pub fn samples_at(&self, t: u64) -> bool {
        (t % self.period.max(1)) as f64 >= self.exploration * self.period as f64
    }
}

/// The state of SGLD and the stage of the last step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    chain: sgld::State,
    sampling: bool,
}

impl HasPosition for State {
    fn position(&self) -> &[f64] {
        self.chain.position()
    }

    fn position_mut(&mut self) -> &mut [f64] {
        self.chain.position_mut()
    }
}

impl<G: GradientEstimator> Dynamics<G> for CyclicalSgld {
    type State = State;

    fn check(&self) -> Result<()> {
        settings::at_least("the period of the cycles", self.period, 1, "a cycle has at least 1 iteration")?;
        let expected = "it must be at least 0 and below 1";
        settings::within("the share of exploration", self.exploration, 0.0..1.0, expected)?;
        Ok(())
    }

    fn init(&self, theta: &[f64], _context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        Ok(State { chain: sgld::State::new(theta), sampling: false })
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        state.sampling = self.samples_at(context.t);
        let temperature = if state.sampling { context.temperature } else { 0.0 };
        state.chain.langevin(context, temperature, oracle)
    }

    fn keeps_draw(&self, state: &State) -> bool {
        state.sampling
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}
