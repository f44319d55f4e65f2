//! Stochastic-gradient MCMC algorithms: one file each, on any gradient estimator, step by step or in one call.

pub mod dynamics;
pub mod fit;
pub mod full_batch;
pub mod gibbs;
pub mod hamiltonian;
pub mod kernel;
pub mod langevin;
pub mod laplace;
pub mod law;
pub mod metric;
pub mod named;
pub mod per_parameter;
mod prediction;
pub mod run;
pub mod schedule;
pub mod sink;
pub mod step_size;
pub mod threshold;

pub use dynamics::{Dynamics, Positioned};
pub use fit::{
    Bias, BlockDraws, ChainDraws, Check, DirectionBias, Ending, Finding, Fit, Health, NoiseReport, Pointwise,
    PredictedBias, Predictions, RunInfo, Severity, SteinDiscrepancies, StepHalving, Summary, SummaryRow, Thresholds,
    ZeroVariance,
};
#[cfg(feature = "nuts")]
pub use full_batch::Nuts;
pub use full_batch::{
    CorrectedLangevin, Covariance, DualAveraging, Hmc, HmcBfgs, InverseHessian, Learning, Mala, Qnhmc, QuasiNewtonMass,
};
pub use hamiltonian::{Badodab, Baoab, LiteralSghmc, NoiseEstimate, Sghmc, SghmcSource, Sgnht, Thermostats};
pub use kernel::{Chain, Cost, Kernel, Recipe, StepInfo};
pub use langevin::{CyclicalSgld, Hamcmc, Preconditioned, Psgld, Sgfs, Sgld, Sgrld};
pub use laplace::LaplaceApproximation;
pub use metric::{Metric, MetricShape, MetricWork};
pub use named::{hamcmc, hmc, mala, psgld, qnhmc, sghmc, sghmccv, sgld, sgldcv, sgnht, sgnhtcv, ula};
pub use per_parameter::PerParameter;
pub use prediction::PredictionPlan;
pub use run::{Builder, Sampler, Starts};
pub use schedule::{CyclicalCosine, Decay, Polynomial, Schedule};
pub use sgmcmc_linalg::Initial;
pub use step_size::StepSize;
pub use threshold::SamplingThreshold;
