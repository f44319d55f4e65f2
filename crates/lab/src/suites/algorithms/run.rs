//! Runs of the methods.

use std::fmt::Debug;

use sgmcmc::StepSize;
use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{
    Badodab, Baoab, CyclicalSgld, Hamcmc, InitialScale, Metric, NoiseEstimate, PreconditionedSgld, Psgld, Sgfs, Sghmc,
    Sgld, Sgnht, Sgrld,
};
use sgmcmc::gradient::{ControlVariate, FullGradient, GradientEstimator, MinibatchGradient, Saga, Svrg};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::schedule::CyclicalCosine;

use super::methods::{Algorithm, Estimator, Method};
use super::plan::{
    CHAINS, DAMPING, EXPLORATION, HAMCMC_LAMBDA, HAMCMC_MEMORY, PSGLD_LAMBDA, Plan, SGHMC_ALPHA, SGHMC_STEPS, SGNHT_A,
};
use super::tuning::Tuning;
use crate::Result;
use crate::suites::posteriors::coordinates::Coordinates;

/// Runs `method` according to `plan` and returns draws of the reference parameters.
pub(crate) fn run(method: &Method, plan: &Plan, tuning: &Tuning) -> Result<Fit> {
    let model_coordinates = matches!(method.algorithm, Algorithm::Preconditioned | Algorithm::Sgrld);
    let target = if model_coordinates { Coordinates::model(&tuning.problem) } else { tuning.whitened.clone() };
    let starts =
        tuning.starts(CHAINS).iter().map(|u| if model_coordinates { tuning.whitened.to_model(u) } else { u.clone() });
    let starts = starts.map(|start| Coordinates::start(&start)).collect::<sgmcmc::gradient::Result<Vec<_>>>()?;
    let center = if model_coordinates { tuning.mode.theta.clone() } else { vec![0.0; tuning.dim()] };
    let chain = Chain { target: &target, starts: &starts, plan, estimator: method.estimator, tuning, center };
    let fit = chain.algorithm(method.algorithm)?;
    tuning.problem.to_reference(&fit, |position| target.to_model(position))
}

/// The settings of a run that do not depend on the algorithm.
struct Chain<'a> {
    target: &'a Coordinates,
    starts: &'a [Tensor<1>],
    plan: &'a Plan,
    estimator: Estimator,
    tuning: &'a Tuning,
    /// The center of the control variates, the mode.
    center: Vec<f64>,
}

impl Chain<'_> {
    /// Runs an algorithm with its settings.
    fn algorithm(&self, algorithm: Algorithm) -> Result<Fit> {
        let (tuning, h) = (self.tuning, self.plan.h);
        match algorithm {
            Algorithm::Sgld | Algorithm::SgldAtControlStep => self.dynamics(Sgld),
            Algorithm::Cyclical => {
                let period = self.plan.period;
                self.with_steps(CyclicalSgld { period, exploration: EXPLORATION }, CyclicalCosine { h, period })
            }
            Algorithm::Sghmc => {
                let noise = NoiseEstimate::Fixed(0.0);
                self.dynamics(Sghmc { alpha: SGHMC_ALPHA.into(), steps: SGHMC_STEPS, noise })
            }
            Algorithm::Sgnht => self.dynamics(Sgnht { a: SGNHT_A.into(), ..Sgnht::default() }),
            Algorithm::Baoab => self.dynamics(Baoab { alpha: DAMPING * h.sqrt(), ..Baoab::default() }),
            Algorithm::Badodab => self.dynamics(Badodab { a: (DAMPING * h.sqrt()).into(), ..Badodab::default() }),
            Algorithm::Preconditioned => self.dynamics(PreconditionedSgld::dense(&tuning.covariance, tuning.dim())?),
            Algorithm::Psgld { gamma } => self.dynamics(Psgld { lambda: PSGLD_LAMBDA, gamma, ..Psgld::default() }),
            Algorithm::Sgrld => self.dynamics(Sgrld::new(metric(tuning))),
            Algorithm::Sgfs => self.dynamics(Sgfs::default()),
            Algorithm::Hamcmc => {
                let gamma = InitialScale::Fixed(1.0);
                self.dynamics(Hamcmc { memory: HAMCMC_MEMORY, lambda: HAMCMC_LAMBDA, gamma })
            }
        }
    }

    /// Runs `dynamics` with a constant step size.
    fn dynamics<A: AnyDynamics>(&self, dynamics: A) -> Result<Fit> {
        self.with_steps(dynamics, self.plan.h)
    }

    /// Runs `dynamics` with a step-size schedule.
    fn with_steps<A: AnyDynamics>(&self, dynamics: A, h: impl Into<StepSize>) -> Result<Fit> {
        let batch = WithoutReplacement::new(self.tuning.batch);
        let h = h.into();
        match self.estimator {
            Estimator::Full => self.sample(dynamics, FullGradient, h),
            Estimator::Minibatch => self.sample(dynamics, MinibatchGradient::new(batch), h),
            Estimator::ControlVariate => {
                self.sample(dynamics, ControlVariate::new(batch).with_center(self.center.clone()), h)
            }
            Estimator::Svrg => self.sample(dynamics, Svrg::new(batch, Estimator::period(self.tuning)), h),
            Estimator::Saga => self.sample(dynamics, Saga::new(batch), h),
        }
    }

    /// Runs the chains.
    fn sample<A, G>(&self, dynamics: A, gradient: G, h: StepSize) -> Result<Fit>
    where
        G: GradientEstimator + Clone + Debug + 'static,
        A: Dynamics<G> + Clone + Debug + 'static,
    {
        let Plan { burn_in, thin, draws, .. } = *self.plan;
        let run = Builder::new(self.target.clone(), dynamics, gradient, h).seed(self.plan.seed).chains(CHAINS);
        Ok(run.burn_in(burn_in).thin(thin).sample(self.starts, draws)?)
    }
}

/// Returns the metric of SGRLD: the inverse of the expected information if it is known, otherwise the Laplace
/// covariance.
fn metric(tuning: &Tuning) -> Metric {
    tuning.problem.metric.clone().unwrap_or_else(|| {
        let covariance = tuning.covariance.clone();
        let constant = Metric::dense(move |_, m| m.copy_from_slice(&covariance));
        constant.with_gamma(|_, gamma| gamma.fill(0.0))
    })
}

/// Dynamics that accept all gradient estimators of the table.
trait AnyDynamics:
    Dynamics<FullGradient>
    + Dynamics<MinibatchGradient>
    + Dynamics<ControlVariate>
    + Dynamics<Svrg>
    + Dynamics<Saga>
    + Clone
    + Debug
    + 'static
{
}

impl<A> AnyDynamics for A where
    A: Dynamics<FullGradient>
        + Dynamics<MinibatchGradient>
        + Dynamics<ControlVariate>
        + Dynamics<Svrg>
        + Dynamics<Saga>
        + Clone
        + Debug
        + 'static
{
}
