//! Running a method by its plan.

use std::fmt::Debug;

use sgmcmc::prelude::*;
use sgmcmc::{Dynamics, StepSize};

use super::methods::{Algorithm, Estimator, Method};
use super::plan::{
    CHAINS, DAMPING, EXPLORATION, HAMCMC_LAMBDA, HAMCMC_MEMORY, PSGLD_LAMBDA, Plan, SGHMC_ALPHA, SGHMC_STEPS, SGNHT_A,
};
use super::tuning::Tuning;
use crate::Result;
use crate::posteriors::coordinates::Coordinates;

/// Runs `method` and returns draws of the reference parameters.
pub(crate) fn run(method: &Method, plan: &Plan, tuning: &Tuning) -> Result<Fit> {
    let of_model = matches!(method.algorithm, Algorithm::Preconditioned | Algorithm::Sgrld);
    let target = if of_model { Coordinates::of_model(&tuning.problem) } else { tuning.whitened.clone() };
    let starts = tuning.starts(CHAINS).iter().map(|u| if of_model { tuning.whitened.to_model(u) } else { u.clone() });
    let starts = starts.map(|start| Coordinates::start(&start)).collect::<sgmcmc::Result<Vec<_>>>()?;
    let centre = if of_model { tuning.mode.theta.clone() } else { vec![0.0; tuning.dim()] };
    let chain = Chain { target: &target, starts: &starts, plan, estimator: method.estimator, tuning, centre };
    let fit = chain.algorithm(method.algorithm)?;
    tuning.problem.reported(&fit, |position| target.to_model(position))
}

/// All of a run but its algorithm.
struct Chain<'a> {
    target: &'a Coordinates,
    starts: &'a [Tensor<1>],
    plan: &'a Plan,
    estimator: Estimator,
    tuning: &'a Tuning,
    /// The center of control variates: the mode.
    centre: Vec<f64>,
}

impl Chain<'_> {
    fn algorithm(&self, algorithm: Algorithm) -> Result<Fit> {
        let (tuning, h) = (self.tuning, self.plan.h);
        match algorithm {
            Algorithm::Sgld | Algorithm::SgldAtControlStep => self.dynamics(Sgld),
            Algorithm::Cyclical => {
                let period = self.plan.period;
                self.stepping(CyclicalSgld { period, exploration: EXPLORATION }, CyclicalCosine { h, period })
            }
            Algorithm::Sghmc => {
                let noise = NoiseEstimate::Fixed(0.0);
                self.dynamics(Sghmc { alpha: SGHMC_ALPHA.into(), steps: SGHMC_STEPS, noise })
            }
            Algorithm::Sgnht => self.dynamics(Sgnht { a: SGNHT_A.into(), ..Sgnht::default() }),
            Algorithm::Baoab => self.dynamics(Baoab { alpha: DAMPING * h.sqrt() }),
            Algorithm::Badodab => self.dynamics(Badodab { a: (DAMPING * h.sqrt()).into(), ..Badodab::default() }),
            Algorithm::Preconditioned => self.dynamics(Preconditioned::dense(&tuning.covariance, tuning.dim())?),
            Algorithm::Psgld { gamma } => self.dynamics(Psgld { lambda: PSGLD_LAMBDA, gamma, ..Psgld::default() }),
            Algorithm::Sgrld => self.dynamics(Sgrld::new(metric(tuning))),
            Algorithm::Sgfs => self.dynamics(Sgfs::default()),
            Algorithm::Hamcmc => {
                let gamma = Initial::Fixed(1.0);
                self.dynamics(Hamcmc { memory: HAMCMC_MEMORY, lambda: HAMCMC_LAMBDA, gamma })
            }
        }
    }

    fn dynamics<A: AnyDynamics>(&self, dynamics: A) -> Result<Fit> {
        self.stepping(dynamics, self.plan.h)
    }

    fn stepping<A: AnyDynamics>(&self, dynamics: A, h: impl Into<StepSize>) -> Result<Fit> {
        let batch = WithoutReplacement::new(self.tuning.batch);
        let h = h.into();
        match self.estimator {
            Estimator::Full => self.sample(dynamics, FullGradient, h),
            Estimator::Minibatch => self.sample(dynamics, MinibatchGradient::new(batch), h),
            Estimator::ControlVariate => self.sample(dynamics, ControlVariate::new(batch).at(self.centre.clone()), h),
            Estimator::Svrg => self.sample(dynamics, Svrg::new(batch, Estimator::period(self.tuning)), h),
            Estimator::Saga => self.sample(dynamics, Saga::new(batch), h),
        }
    }

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

/// The metric of SGRLD: the inverse of the expected information where it is known, else the Laplace covariance.
fn metric(tuning: &Tuning) -> Metric {
    tuning.problem.metric.clone().unwrap_or_else(|| {
        let covariance = tuning.covariance.clone();
        let constant = Metric::dense(move |_, m| m.copy_from_slice(&covariance));
        constant.with_gamma(|_, gamma| gamma.fill(0.0))
    })
}

/// Dynamics on every estimator of the table.
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
