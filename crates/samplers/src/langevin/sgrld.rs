//! Riemannian Langevin dynamics: see [`Sgrld`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Fingerprint, GradientEstimator, Oracle, Result};
use sgmcmc_numerics::Cholesky;

use super::{Scratch, not_positive_definite};
use crate::dynamics::{Dynamics, impl_has_position};
use crate::law::Direction;
use crate::metric::{Metric, MetricShape, MetricWork};
use crate::step_size::StepContext;

/// Stochastic gradient Riemannian Langevin dynamics (SGRLD): Langevin dynamics with a position-dependent matrix M(θ).
///
/// # Rule
///
/// θ += h/2 (M(θ) ĝ(θ) + Γ(θ)) + √(hT) M(θ)^{1/2} z, Γᵢ = Σⱼ ∂Mᵢⱼ/∂θⱼ. At temperature T, Γ is multiplied by T, which
/// leaves p^{1/T} invariant as a density of the values of the parameters.
///
/// # Source
///
/// Patterson & Teh (2013); Şimşekli et al. (2016), §3.1, where M is the inverse of the expected Fisher information,
/// with Γ as in their eq. (9).
///
/// # Cost
///
/// Per step one gradient estimate, one evaluation of M, one of Γ (2d evaluations of M if Γ is not given), and for dense
/// M a Cholesky factorization (d³/3).
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | `metric` | – | the functions M(θ) and, optionally, Γ(θ); see [`Metric`] |
/// | `gamma` | `true` | whether Γ is added |
///
/// If M has the unit of a posterior covariance, h has no unit. With a dense metric all parameters must have the same
/// step size.
///
/// # Bias
///
/// O(h). Without Γ there is a bias that does not vanish with h.
///
/// # When to use it
///
/// If the scale of the posterior varies with θ in a known way, as for probabilities and variances.
/// [`RiemannianMala`](crate::metropolis::RiemannianMala) is the exact version for the full gradient.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Metric, Sgrld};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let metric = Metric::diagonal(|theta, m| m[0] = 1.0 / (1.0 + theta[0] * theta[0]));
/// let fit = ula(&model, &Dataset::none(), 0.1).dynamics(Sgrld::new(metric)).sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sgrld {
    /// The matrix M(θ).
    pub metric: Metric,
    /// True if Γ is added. The chain is biased without it.
    pub gamma: bool,
}

impl Sgrld {
    /// Creates the algorithm with the matrix `metric` and the correction Γ.
    pub fn new(metric: Metric) -> Self {
        Self { metric, gamma: true }
    }

    /// Returns an error if M is dense and the step sizes of this iteration differ by parameter.
    fn check_step_sizes(&self, context: StepContext<'_>) -> Result<()> {
        let first = context.blocks.first().map_or(context.h, |block| block.h);
        let uneven = context.blocks.iter().any(|block| (block.h - first).abs() > 1e-12 * first);
        if self.metric.shape() == MetricShape::Dense && uneven {
            let value = format!("different by parameter at iteration {}", context.t);
            let expected = "with a dense metric all parameters have the same step size; put the scales into the metric";
            return Err(Error::Setting { name: "the step size", value, expected });
        }
        Ok(())
    }
}

/// The position θ and the buffers of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    m: Vec<f64>,
    #[serde(skip)]
    gamma: Vec<f64>,
    #[serde(skip)]
    factor: Option<Cholesky>,
    #[serde(skip)]
    work: MetricWork,
}

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for Sgrld {
    type State = State;

    /// Counts M, its factor, and M at two points for Γ.
    fn workspace(&self, dim: usize) -> usize {
        self.metric.shape().dense_bytes(dim, 4)
    }

    fn fingerprint_of_functions(&self, theta: &[f64]) -> Result<Option<Fingerprint>> {
        Ok(Some(self.metric.fingerprint(theta)))
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        self.check_step_sizes(context)?;
        let mut m = Vec::new();
        self.metric.at(theta, &mut m)?;
        let gamma = vec![0.0; theta.len()];
        let work = MetricWork::default();
        Ok(State { theta: theta.to_vec(), scratch: Scratch::default(), m, gamma, factor: None, work })
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        self.check_step_sizes(context)?;
        let State { theta, scratch, m, gamma, factor, work } = state;
        let log_posterior = oracle.gradient(theta, scratch.gradient(theta.len()))?;
        self.metric.at(theta, m)?;
        if self.gamma {
            gamma.resize(theta.len(), 0.0);
            self.metric.gamma(theta, gamma, work);
        }
        match self.metric.shape() {
            MetricShape::Diagonal => scratch.diagonal_step(theta, m, context, oracle.noise()),
            MetricShape::Dense => {
                let factor = refactored(factor, m, theta.len())?;
                scratch.factored_step(theta, context, oracle.noise(), |from, to, transpose| {
                    if transpose { factor.transpose_product(from, to) } else { factor.product(from, to) }
                });
            }
        }
        if self.gamma {
            for block in context.blocks {
                let factor = 0.5 * block.h * context.temperature;
                let moved = theta[block.range.clone()].iter_mut().zip(&gamma[block.range.clone()]);
                moved.for_each(|(theta, gamma)| *theta += factor * gamma);
            }
        }
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        let State { theta, m, factor, .. } = state;
        self.metric.at(theta, m)?;
        match self.metric.shape() {
            MetricShape::Diagonal => v.iter_mut().zip(&*m).for_each(|(v, m)| *v *= m.sqrt()),
            MetricShape::Dense => {
                let (factor, from) = (refactored(factor, m, theta.len())?, v.to_vec());
                if transpose { factor.transpose_product(&from, v) } else { factor.product(&from, v) }
            }
        }
        Ok(())
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }

    fn unpredicted_bias(&self) -> Option<&'static str> {
        let missing =
            "SGRLD without Γ has a bias that does not vanish with the step size and that the law does not predict";
        (!self.gamma).then_some(missing)
    }
}

/// Returns the Cholesky factor of `m`, computed in the buffer of the previous factor.
fn refactored<'a>(factor: &'a mut Option<Cholesky>, m: &[f64], dim: usize) -> Result<&'a Cholesky> {
    let invalid = |error| not_positive_definite("M(theta)", &error);
    match factor {
        Some(factor) => {
            factor.refactor(m).map_err(invalid)?;
            Ok(factor)
        }
        None => Ok(factor.insert(Cholesky::new(m, dim).map_err(invalid)?)),
    }
}
