//! Stochastic gradient Langevin dynamics: see [`Sgld`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{GradientEstimator, Oracle, Result};

use crate::dynamics::{Dynamics, impl_has_position, with_normals};
use crate::law::Direction;
use crate::step_size::StepContext;

/// Stochastic gradient Langevin dynamics (SGLD).
///
/// # Rule
///
/// θ += h/2 ĝ(θ) + √(hT) z, z ~ N(0, I), where ĝ is an unbiased estimate of the gradient of the log posterior.
///
/// With [`FullGradient`](sgmcmc_gradient::FullGradient) this is the unadjusted Langevin algorithm
/// ([`ula`](crate::presets::ula)).
///
/// # Source
///
/// Welling & Teh (2011), eq. (4).
///
/// # Cost
///
/// One gradient estimate and O(d) operations per step.
///
/// # Settings
///
/// None besides the step size h, which has the unit of a variance of the coordinates. A good first value is a tenth of
/// the smallest posterior variance.
///
/// # Bias
///
/// With constant h the stationary distribution differs from the posterior by O(h). On a normal posterior with curvature
/// A and gradient noise of variance V, the variance is (1 + hV/(4T)) / (1 − hA/4) times the exact one. With decreasing
/// h the draws have weight h (eq. (11)), and the weighted averages converge to the posterior expectations.
///
/// # When to use it
///
/// As the first algorithm to try, and with control variates ([`sgldcv`](crate::presets::sgldcv)) for large data sets.
/// If the scales of the parameters differ strongly, use a step size per parameter or one of the preconditioned
/// algorithms.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Sgld;
/// use sgmcmc::distributions::*;
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
///
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(2));
/// let run = Builder::new(model.with(&data), Sgld, gradient, 0.1).seed(1);
/// let fit = run.sample(&zeros([1]), 1000)?;
/// assert!((fit.summary().rows()[0].mean - 1.25).abs() < 0.5);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sgld;

/// The state of SGLD: the position θ and a gradient buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    g: Vec<f64>,
}

impl_has_position!(State);

impl State {
    /// Creates the state of a chain at `theta`.
    pub(super) fn new(theta: &[f64]) -> Self {
        Self { theta: theta.to_vec(), g: Vec::new() }
    }

    /// Performs one Langevin step at temperature `temperature`.
    pub(super) fn langevin<G: GradientEstimator>(
        &mut self,
        context: StepContext<'_>,
        temperature: f64,
        oracle: &mut Oracle<G>,
    ) -> Result<f64> {
        let Self { theta, g } = self;
        g.resize(theta.len(), 0.0);
        let log_posterior = oracle.gradient(theta, g)?;
        let rng = oracle.noise();
        for block in context.blocks {
            let (half_h, sd) = (0.5 * block.h, (block.h * temperature).sqrt());
            with_normals(rng, block.range.clone(), |range, z| {
                for ((theta, g), z) in theta[range.clone()].iter_mut().zip(&g[range]).zip(z) {
                    *theta += half_h * g + sd * z;
                }
            });
        }
        Ok(log_posterior)
    }
}

impl<G: GradientEstimator> Dynamics<G> for Sgld {
    type State = State;

    fn init(&self, theta: &[f64], _context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        Ok(State::new(theta))
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        state.langevin(context, context.temperature, oracle)
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}
