#![doc = include_str!("../../../README.md")]

pub mod progress;

pub use sgmcmc_core::*;
pub use sgmcmc_derive::TensorTree;
pub use sgmcmc_diagnostics as diagnostics;
pub use sgmcmc_linalg as linalg;
#[cfg(feature = "report")]
pub use sgmcmc_report as report;
pub use sgmcmc_samplers::*;
pub use sgmcmc_storage as storage;
pub use sgmcmc_storage::{CreateMapped, Mapped, MappedDataset, MappedWriter, datasets, mapped, read};

/// What most programs need, in one `use`.
pub mod prelude {
    pub use crate::progress;
    pub use sgmcmc_core::burn::{Bool, Device, Int, Tensor};
    pub use sgmcmc_core::data::{Column, Scaling};
    pub use sgmcmc_core::distributions::{
        Bernoulli, BernoulliLogits, Beta, BinomialLogits, CategoricalLogits, Cauchy, Dirichlet, Exponential, Gamma,
        GeneralizedGamma, HalfCauchy, HalfNormal, InverseGamma, Laplace, LogNormal, Logistic, Mixture, Multinomial,
        MultivariateNormal, NegativeBinomial, Normal, Poisson, PoissonLogRate, StudentT, Uniform, Weibull,
    };
    pub use sgmcmc_core::{
        Adam, Analytic, AnalyticModel, AutoSearch, BatchSize, Columns, Constraint, ControlVariate, Dataset, Engine,
        Epochs, Evaluator, FullGradient, GradientEstimator, GradientNoise, LbfgsSearch, MinibatchGradient, Mode,
        ModeSearch, Model, Named, Posterior, Precision, Rows, Saga, Sgd, Svrg, Target, TensorTree, Weighted,
        WithReplacement, WithoutReplacement, array, default_device, full, ones, zeros,
    };
    pub use sgmcmc_derive::TensorTree;
    #[cfg(feature = "report")]
    pub use sgmcmc_report::{Plots, Prior, Report};
    pub use sgmcmc_samplers::run::{Every, StopSignal, Watch};
    pub use sgmcmc_samplers::sink::{Memory, Moments, Quantiles, RunningMoments, Spread, TestFunction};
    pub use sgmcmc_samplers::{
        Badodab, Baoab, Builder, Check, CorrectedLangevin, Covariance, CyclicalCosine, CyclicalSgld, Decay,
        DualAveraging, Fit, Hamcmc, Health, Hmc, HmcBfgs, Initial, InverseHessian, LaplaceApproximation, Learning,
        LiteralSghmc, Mala, Metric, NoiseEstimate, PerParameter, Polynomial, Preconditioned, Psgld, Qnhmc,
        QuasiNewtonMass, Sampler, SamplingThreshold, Schedule, Sgfs, Sghmc, SghmcSource, Sgld, Sgnht, Sgrld, Starts,
        StepSize, Summary, Thermostats, hmc, mala, qnhmc, sghmc, sghmccv, sgld, sgldcv, sgnht, sgnhtcv, ula,
    };
    pub use sgmcmc_storage::{
        CreateMapped, CsvDraws, FileCheckpoints, MappedDataset, MappedWriter, datasets, mapped, read,
    };
}

/// The guides, so that the tests run the code in them.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../../docs/coming-from-r.md")]
    mod coming_from_r {}

    #[doc = include_str!("../../../docs/guide/models.md")]
    mod models {}
}
