//! Stochastic variance-reduced gradients.

use serde::{Deserialize, Serialize};

use super::GradientEstimator;
use super::center::{Center, estimate_with_center};
use crate::error::Result;
use crate::evaluator::Evaluator;
use crate::minibatch::{Scheme, WithoutReplacement};
use crate::settings;

/// SVRG: a minibatch gradient that is corrected by its value at a recent point of the chain.
///
/// ĝ(θ) = ∇ log p(θ̃|x) + [ĝₛ(θ) − ĝₛ(θ̃)], with θ̃ ← θ every m estimates. The cost is 2n observations per estimate,
/// and one pass over all observations every m estimates. With m = 1 the estimate is the full gradient.
///
/// Source: Dubey et al. (2016), in Baker (2019), §3.3.1.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{GradientNoise, Svrg};
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = Svrg::new(WithoutReplacement::new(10), 10);
/// let noise = GradientNoise::measure(&estimator, evaluator.as_mut(), &[40.0], 100, 1)?;
/// assert!(noise.total_variance() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svrg<S = WithoutReplacement> {
    /// The minibatch scheme.
    pub scheme: S,
    /// The number m of estimates between two passes over all observations.
    pub period: u64,
}

impl<S: Scheme> Svrg<S> {
    /// Creates an estimator with minibatches of `scheme` and a pass over all observations every `period` estimates.
    pub fn new(scheme: S, period: u64) -> Self {
        Self { scheme, period }
    }
}

/// The state of [`Svrg`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State<S> {
    scheme: S,
    center: Center,
    /// The number of estimates since the last move of the center.
    estimates: u64,
}

impl<S: Scheme> GradientEstimator for Svrg<S> {
    type Scheme = S;
    type State = State<S::State>;

    fn scheme(&self) -> Option<&S> {
        Some(&self.scheme)
    }

    fn init(&self, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self::State> {
        settings::at_least("the period of SVRG", self.period, 1, "renew the center every 1 or more estimates")?;
        let scheme = self.scheme.init(evaluator.observations())?;
        Ok(State { scheme, center: Center::new(theta, evaluator)?, estimates: 0 })
    }

    fn advance(&self, state: &mut Self::State, theta: &[f64], evaluator: &mut dyn Evaluator) -> Result<()> {
        if state.estimates == self.period {
            state.center.renew(theta, evaluator)?;
            state.estimates = 0;
        }
        state.estimates += 1;
        Ok(())
    }

    estimate_with_center!();
}
