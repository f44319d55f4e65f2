//! Gradient kernels of any algorithm for the factors of a matrix.

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::minibatch::IntoScheme;
use sgmcmc_gradient::{ChainRng, Evaluator, FullGradient, MinibatchGradient, Result};
use sgmcmc_samplers::StepSize;
use sgmcmc_samplers::chain::{ChainSpec, GradientChain};
use sgmcmc_samplers::dynamics::Dynamics;

/// The function that creates the chain of a kernel.
type Start = dyn Fn(Box<dyn Evaluator>, &[f64], ChainRng) -> Result<Box<dyn GradientChain>> + Send + Sync;

/// An algorithm with its step size and gradient estimator, which moves the factors of a matrix.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Hmc, Sgld};
/// use sgmcmc::models::factorization::Kernel;
///
/// let sgld = Kernel::minibatch(Sgld, 1e-4, 1000);
/// let hmc = Kernel::full(Hmc::default(), 1e-3);
/// # let _ = (sgld, hmc);
/// ```
#[derive(Clone)]
pub struct Kernel {
    start: Arc<Start>,
    description: String,
}

impl Kernel {
    /// Creates a kernel with gradients on minibatches of entries: a number of entries, a share of them, or a
    /// [`Scheme`](sgmcmc_gradient::minibatch::Scheme).
    pub fn minibatch<D, S>(dynamics: D, step_size: impl Into<StepSize>, minibatch: S) -> Self
    where
        S: IntoScheme,
        S::Scheme: fmt::Debug,
        D: Dynamics<MinibatchGradient<S::Scheme>> + fmt::Debug + 'static,
    {
        let scheme = minibatch.into_scheme();
        Self::with_gradient(dynamics, step_size, MinibatchGradient::new(scheme))
    }

    /// Creates a kernel with the gradient of all entries, for algorithms with an acceptance step.
    pub fn full<D>(dynamics: D, step_size: impl Into<StepSize>) -> Self
    where
        D: Dynamics<FullGradient> + fmt::Debug + 'static,
    {
        Self::with_gradient(dynamics, step_size, FullGradient)
    }

    /// Creates a kernel with any gradient estimator whose estimates depend on the current position only.
    ///
    /// Estimators that store gradients at earlier positions, such as control variates and SAGA, are not valid
    /// here: the hyperparameters and latent variables change between the steps, and the remembered gradients do not
    /// follow.
    fn with_gradient<D, G>(dynamics: D, step_size: impl Into<StepSize>, gradient: G) -> Self
    where
        G: sgmcmc_gradient::GradientEstimator + fmt::Debug + 'static,
        D: Dynamics<G> + fmt::Debug + 'static,
    {
        let spec = ChainSpec {
            dynamics: Arc::new(dynamics),
            gradient: Arc::new(gradient),
            step_size: step_size.into(),
            temperature: 1.0.into(),
        };
        let description = format!("{:?}, {:?}, step size {:?}", spec.dynamics, spec.gradient, spec.step_size);
        let start = move |evaluator: Box<dyn Evaluator>, theta: &[f64], rng: ChainRng| {
            Ok(Box::new(spec.start(evaluator, theta, rng)?) as Box<dyn GradientChain>)
        };
        Self { start: Arc::new(start), description }
    }

    /// Creates the chain at the coordinates `theta`.
    pub(super) fn start(
        &self,
        evaluator: Box<dyn Evaluator>,
        theta: &[f64],
        rng: ChainRng,
    ) -> Result<Box<dyn GradientChain>> {
        (self.start)(evaluator, theta, rng)
    }

    /// Returns the algorithm, the gradient estimator and the step size in words.
    pub fn description(&self) -> &str {
        &self.description
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)
    }
}
