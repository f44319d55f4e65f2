//! SVRG: the control variate with its centre renewed at the current point every m estimates.
//!
//! ĝ(θ) = ∇ log p(θ̃|x) + [ĝₛ(θ) − ĝₛ(θ̃)], θ̃ ← θ every m estimates. Source: Dubey et al. (2016), in Baker (2019), §3.3.1.
//! Cost: 2n observations per estimate and a full pass every m. With m = 1 the estimate is the full gradient.

use serde::{Deserialize, Serialize};

use super::centre::Centre;
use super::{GradientEstimator, draw_first};
use crate::engine::Evaluator;
use crate::error::{Error, Result};
use crate::minibatch::{Minibatch, Scheme, WithoutReplacement};
use crate::rng::StreamRng;

/// A minibatch gradient corrected by its value at a recent point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svrg<S = WithoutReplacement> {
    /// How minibatches are drawn.
    pub scheme: S,
    /// Estimates between two full passes, m.
    pub period: u64,
}

impl<S: Scheme> Svrg<S> {
    /// The estimator with minibatches drawn by `scheme` and a full pass every `period` estimates.
    pub fn new(scheme: S, period: u64) -> Self {
        Self { scheme, period }
    }
}

/// The centre, and how many estimates it has served.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State<S> {
    scheme: S,
    centre: Centre,
    served: u64,
}

impl<S: Scheme> GradientEstimator for Svrg<S> {
    type State = State<S::State>;

    fn init(&self, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self::State> {
        if self.period == 0 {
            let expected = "renew the centre every 1 or more estimates";
            return Err(Error::Setting { name: "the period of SVRG", value: "0".into(), expected });
        }
        let scheme = self.scheme.init(evaluator.observations())?;
        Ok(State { scheme, centre: Centre::at(theta, evaluator)?, served: 0 })
    }

    fn advance(&self, state: &mut Self::State, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<()> {
        if state.served == self.period {
            state.centre.renew(theta, evaluator)?;
            state.served = 0;
        }
        state.served += 1;
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
