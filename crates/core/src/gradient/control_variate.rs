//! Control variates: ĝ(θ) = ∇ log p(θ̂|x) + [ĝₛ(θ) − ĝₛ(θ̂)], both minibatch gradients on the same observations S.
//!
//! Source: Baker (2019), §3.3.1; R's `sgldcv`. θ̂ is a point near the posterior mode, found beforehand (see
//! [`mode`](crate::mode)); the chain starts there. Cost: one full pass at θ̂, then 2n observations per estimate. At the
//! distance of a posterior standard deviation from θ̂ the variance is smaller than that of the plain minibatch gradient by a
//! factor that grows linearly in N.
//!
//! | setting | default | purpose |
//! |---|---|---|
//! | `centre` | where the chain starts | θ̂ |
//! | `recentre` | never | renew θ̂ as the chain moves, for a θ̂ that was not close to the mode |

use serde::{Deserialize, Serialize};

use super::centre::Centre;
use super::{GradientEstimator, draw_first};
use crate::engine::Evaluator;
use crate::error::{Error, Result};
use crate::minibatch::{Minibatch, Scheme, WithoutReplacement};
use crate::rng::StreamRng;

/// When the centre is renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recentre {
    /// The centre stays.
    #[default]
    Never,
    /// Every so many estimates, at the mean of the points visited since the last time.
    EveryAtMean(u64),
}

/// A minibatch gradient corrected by its value at a centre θ̂.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlVariate<S = WithoutReplacement> {
    /// How minibatches are drawn.
    pub scheme: S,
    /// θ̂; where the chain starts if not given.
    pub centre: Option<Vec<f64>>,
    /// When the centre is renewed.
    pub recentre: Recentre,
}

impl<S: Scheme> ControlVariate<S> {
    /// The estimator with minibatches drawn by `scheme`, centred where the chain starts.
    pub fn new(scheme: S) -> Self {
        Self { scheme, centre: None, recentre: Recentre::Never }
    }

    /// The same estimator centred at `point`.
    #[must_use]
    pub fn at(self, point: Vec<f64>) -> Self {
        Self { centre: Some(point), ..self }
    }

    /// The same estimator with its centre renewed as `recentre` says.
    #[must_use]
    pub fn recentre(self, recentre: Recentre) -> Self {
        Self { recentre, ..self }
    }
}

/// The centre, and the mean of the points visited since it was last renewed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State<S> {
    scheme: S,
    centre: Centre,
    visited: Vec<f64>,
    visits: u64,
}

impl<S: Scheme> GradientEstimator for ControlVariate<S> {
    type State = State<S::State>;

    fn init(&self, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self::State> {
        if self.recentre == Recentre::EveryAtMean(0) {
            let expected = "renew the centre every 1 or more estimates";
            return Err(Error::Setting { name: "the period of re-centring", value: "0".into(), expected });
        }
        let scheme = self.scheme.init(evaluator.observations())?;
        let point = self.centre.as_deref().unwrap_or(theta);
        evaluator.layout().check_length(point)?;
        Ok(State { scheme, centre: Centre::at(point, evaluator)?, visited: vec![0.0; theta.len()], visits: 0 })
    }

    fn advance(&self, state: &mut Self::State, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<()> {
        let Recentre::EveryAtMean(period) = self.recentre else { return Ok(()) };
        state.visits += 1;
        for (mean, theta) in state.visited.iter_mut().zip(theta) {
            *mean += (theta - *mean) / state.visits as f64;
        }
        if state.visits == period {
            state.centre.renew(&state.visited, evaluator)?;
            state.visited.fill(0.0);
            state.visits = 0;
        }
        Ok(())
    }

    fn draw(&self, state: &mut Self::State, rng: &mut StreamRng, batch: &mut Minibatch) {
        self.scheme.draw(&mut state.scheme, rng, batch);
    }

    fn estimate(
        &self,
        state: &mut Self::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut [f64],
    ) -> Result<f64> {
        state.centre.estimate(theta, evaluator, batch, out)
    }

    fn draw_independent(&self, observations: usize, rng: &mut StreamRng, batch: &mut Minibatch) -> Result<()> {
        draw_first(&self.scheme, observations, rng, batch)
    }

    fn noise_terms(
        &self,
        state: &Self::State,
        theta: &[f64],
        evaluator: &mut dyn Evaluator,
        batch: &Minibatch,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        state.centre.terms(theta, evaluator, batch, out)
    }

    fn has_distinct_observations(&self) -> bool {
        self.scheme.has_distinct_observations()
    }
}
