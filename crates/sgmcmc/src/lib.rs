//! [getting started]: guide::getting_started
//! [models]: guide::models
//! [gallery of models]: guide::model_gallery
//! [sampling]: guide::sampling
//! [latent variables]: guide::latent_variables
//! [diagnostics]: guide::diagnostics
//! [shards and machines]: guide::distributed
//! [files]: guide::files
//! [long runs]: guide::long_runs
//! [notebooks]: guide::notebooks
//! [questions]: guide::faq
//! [coming from R]: guide::coming_from_r
//! [extending]: guide::extending
//! [design]: guide::design
//! [promises]: guide::promises
//! [accuracy]: guide::accuracy
//! [performance]: guide::performance
//! [machines]: guide::machines
//! [contributing]: guide::extending
//! [gallery]: report/plot/index.html
//! [examples]: guide::getting_started
//! [program]: guide::program
//! [python]: guide::python
//! [`sgmcmc::prelude`]: mod@prelude
//! [`model!`]: macro@model
//! [`Model`]: struct@Model
//! [`Dataset`]: struct@Dataset
//! [`Posterior`]: struct@Posterior
//! [`TensorTree`]: trait@TensorTree
//! [`predictive`]: mod@predictive
//! [`functions`]: mod@functions
//! [`distributions`]: mod@distributions
//! [`matrix`]: mod@matrix
//! [`kernels`]: mod@kernels
//! [`sequence`]: mod@sequence
//! [`constraint`]: mod@constraint
//! [`algorithms`]: mod@algorithms
//! [`simplex`]: mod@simplex
//! [`tuning`]: mod@tuning
//! [`presets`]: mod@presets
//! [`gradient`]: mod@gradient
//! [`minibatch`]: mod@minibatch
//! [`mode`]: mod@mode
//! [`curvature`]: mod@curvature
//! [`schedule`]: mod@schedule
//! [`run`]: mod@run
//! [`progress`]: mod@progress
//! [`sink`]: mod@sink
//! [`fit`]: mod@fit
//! [`diagnostics`]: mod@diagnostics
//! [`storage`]: mod@storage
//! [`report`]: report/index.html
//! [`models`]: models/index.html
//! [`distributed`]: distributed/index.html
//! [`datasets`]: datasets/index.html
#![doc = ""]
#![doc = include_str!("../README.md")]

mod error;
mod fit_files;
pub mod guide;
pub mod progress;

pub use error::{Error, Result};
pub use fit_files::FitFiles;

pub use sgmcmc_core::burn;
pub use sgmcmc_core::distributions;
pub use sgmcmc_core::functions;
pub use sgmcmc_core::kernels;
pub use sgmcmc_core::matrix;
pub use sgmcmc_core::sequence;
pub use sgmcmc_core::special;
pub use sgmcmc_core::{
    AnalyticTree, Dataset, Engine, FitTensors, IntoDataset, Model, Named, Posterior, TensorTree, TreeLayout, array,
    default_device, dtype, full, ones, zeros,
};
#[cfg(feature = "datasets")]
pub use sgmcmc_datasets as datasets;
pub use sgmcmc_derive::{TensorTree, model};
pub use sgmcmc_diagnostics as diagnostics;
pub use sgmcmc_fit::{Check, Fit, Health, Summary};
pub use sgmcmc_gradient::constraint;
pub use sgmcmc_gradient::curvature;
pub use sgmcmc_gradient::mode;
pub use sgmcmc_gradient::rng;
pub use sgmcmc_gradient::{Axis, Columns, Constraint, Layout};
#[cfg(feature = "models")]
pub use sgmcmc_models as models;
pub use sgmcmc_samplers::{Builder, Sampler, Starts, StepSize};

/// Data: columns, selections of observations, scalings.
pub mod data {
    pub use sgmcmc_core::Number;
    pub use sgmcmc_core::data::{Contrast, DesignMatrix, Levels, Scaling};
    pub use sgmcmc_gradient::data::{
        Buffer, BufferOwner, Column, ElementType, Kind, Precision, Rows, Selection, Values, Weights,
    };
}

/// Trees of tensors, the types of parameters and data, see [`TensorTree`](trait@crate::TensorTree).
pub mod tree {
    // The derive macro calls the functions of `prior`.
    #[doc(hidden)]
    pub use sgmcmc_core::tree::prior;
    pub use sgmcmc_core::tree::{AnyRank, Leaf, Part, Path, PriorDraws, Source, Visitor, to_device};
}

/// Densities, evaluators and gradient estimators.
pub mod gradient {
    pub use sgmcmc_gradient::estimator::{
        Center, ControlVariate, ExactGradient, FullGradient, GradientEstimator, GradientNoise, LeadingEigenpair,
        MinibatchGradient, NoiseCovariance, NoiseReduction, Oracle, OracleState, Recenter, Saga, Svrg,
    };
    pub use sgmcmc_gradient::evaluator::{Analytic, AnalyticModel, ConditionOn, Evaluator, ModelIdentity, Target};
    pub use sgmcmc_gradient::layout::Split;
    pub use sgmcmc_gradient::{BatchSizeError, Closure, Error, Fingerprint, Result, settings};
}

/// Minibatch schemes.
pub mod minibatch {
    pub use sgmcmc_gradient::minibatch::{
        BatchSize, BatchWeights, Epochs, IntoScheme, Minibatch, Scheme, Weighted, WithReplacement, WithoutReplacement,
    };
}

/// Sampling algorithms and their settings, and the traits to write one.
pub mod algorithms {
    pub use sgmcmc_numerics::InitialScale;
    pub use sgmcmc_samplers::chain::{Chain, ChainSpec, Cost, GradientChain, StepInfo, TypedChain};
    pub use sgmcmc_samplers::compose::{
        GibbsUpdate, IndependenceProposal, LatentStore, LocalBlock, LocalLatents, MetropolisHastings, Proposal,
        ProposalSpace, RandomWalk, Update, UpdateContext, UpdatesOnly, Values, WithLatents,
    };
    pub use sgmcmc_samplers::dynamics::{Dynamics, HasPosition};
    pub use sgmcmc_samplers::hamiltonian::{
        Badodab, Baoab, LiteralSghmc, NoiseEstimate, Sghmc, SghmcSource, Sgnht, Thermostats,
    };
    pub use sgmcmc_samplers::langevin::{
        AdaptiveSgld, CyclicalSgld, Hamcmc, OrnsteinUhlenbeck, PreconditionedSgld, Psgld, Sgfs, Sgld, Sgrld,
    };
    pub use sgmcmc_samplers::laplace::LaplaceApproximation;
    pub use sgmcmc_samplers::metric::{Metric, MetricShape, MetricWork};
    #[cfg(feature = "nuts")]
    pub use sgmcmc_samplers::metropolis::Nuts;
    pub use sgmcmc_samplers::metropolis::{
        Adaptation, Covariance, DualAveraging, Hmc, HmcBfgs, InverseHessian, Mala, Qnhmc, QuasiNewtonMass,
        RiemannianMala, WarmUp,
    };
    pub use sgmcmc_samplers::step_size::{StepBlock, StepContext, StepSchedule};
}

/// Presets: the functions of the R package `sgmcmc` by name, and others like them.
pub mod presets {
    pub use sgmcmc_samplers::presets::{
        hamcmc, hmc, mala, psgld, qnhmc, sghmc, sghmccv, sgld, sgldcv, sgnht, sgnhtcv, ula, updates_only,
    };
}

/// Algorithms for parameters on the simplex.
pub mod simplex {
    pub use sgmcmc_samplers::simplex::{
        CirTransition, Counts, ExpandedMean, ExpandedNatural, Observation, ReducedMean, ReducedNatural, Scir,
        SimplexDensity, SimplexTarget, Statistics, StatisticsFn,
    };
}

/// Schedules of step sizes and temperatures.
pub mod schedule {
    pub use sgmcmc_samplers::per_parameter::PerParameter;
    pub use sgmcmc_samplers::schedule::{CyclicalCosine, Decay, Polynomial, Schedule, SharedSchedule};
}

/// Runs: checkpoints, progress, signals that stop a run.
pub mod run {
    pub use sgmcmc_fit::checkpoint::{CheckpointStore, Claim, saved_fit};
    pub use sgmcmc_samplers::run::{
        ChainRun, ChainStage, CheckpointInterval, FindMode, InMemoryCheckpoints, Minibatched, ModePlan, NoMode,
        PreparationStage, Progress, ProgressLines, ProgressOption, Quality, Reporter, StopSignal,
    };
    pub use sgmcmc_samplers::threshold::SamplingThreshold;
}

/// Automatic tuning: runs without settings, and the pieces that they are made of.
pub mod tuning {
    pub use sgmcmc_samplers::law;
    pub use sgmcmc_samplers::tuning::{
        ArmResult, Auto, Candidate, Choice, CurvatureRange, Goal, NormalApproximation, SearchResult, SteinScorer,
        StepCost, StepSizeScore, StepSizeScores, SuccessiveHalving, Tuned, WhitenedProblem, auto, choose_step_size,
        log_predictive_densities, minibatch_size, step_size_for_covariance, step_size_for_noise,
    };
}

/// Parts of a fit.
pub mod fit {
    pub use sgmcmc_fit::{
        Bias, Calibration, ChainDraws, ChainOutcome, Communication, CorrectedMean, DirectionBias, Efficiency,
        EstimatorNoise, Finding, FitDifference, FssdOptions, Group, IntervalKind, NoisePoint, NoiseReport,
        ParameterDiscrepancy, ParameterDraws, ParameterNoise, PointwiseLogLikelihood, PredictedBias, Predictions,
        Predictive, PredictiveInterval, RankTest, RunInfo, Severity, ShardInfo, Shift, SteinDiscrepancies, StepHalving,
        SummaryOptions, SummaryOrder, Tempering, Thresholds, TuningRecord, ValueDifference, Variable, ZeroVariance,
    };
}

/// Uses of models besides sampling: predictive checks, simulation-based calibration, conditioning.
pub mod predictive {
    pub use sgmcmc_core::model::Conditioned;
    pub use sgmcmc_core::predictive::{PredictiveOptions, SbcOptions, Simulated};
}

/// Sinks: receivers of draws while a run is under way.
pub mod sink {
    pub use sgmcmc_fit::sink::{
        ChainScores, Draw, Memory, Moments, Quantiles, RunningMoments, Schema, Scores, SecondMoments, Sink, TDigest,
        TestFunction, Trace,
    };
}

/// Linear algebra on slices: quasi-Newton matrices, factorizations, products.
pub mod numerics {
    pub use sgmcmc_numerics::{Bfgs, Cholesky, Error, LEAST_CURVATURE, Lbfgs, SymmetricEigen, triangular, vector};
}

/// Files: readers of data, data larger than memory, checkpoints, and fits in formats that other tools read.
pub mod storage {
    #[doc(inline)]
    pub use sgmcmc_storage::output;
    pub use sgmcmc_storage::{
        Error, FileCheckpoints, FileError, FilePosition, Problem, Result, fits, mapped, memory_limit, read,
        set_memory_limit, source,
    };
}

/// Plots of draws, and HTML pages of fits.
#[cfg(feature = "report")]
pub mod report {
    pub use sgmcmc_report::{Error, Gallery, Plots, Plotter, Report, Result, TextChart, comparison, plot};
}

/// Shards, combination of subposteriors, and runs on many machines.
#[cfg(feature = "distributed")]
pub mod distributed {
    pub use sgmcmc_distributed::{
        chains, checkpoint, collective, combine, data_parallel, dsgld, factorization, input, shards,
    };
}

/// The names that most programs use.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::functions::{Elements, linear};
    #[doc(no_inline)]
    pub use crate::presets::{hamcmc, hmc, mala, psgld, qnhmc, sghmc, sghmccv, sgld, sgldcv, sgnht, sgnhtcv, ula};
    #[doc(no_inline)]
    pub use crate::tuning::auto;
    #[doc(no_inline)]
    pub use crate::{
        Builder, Columns, Constraint, Dataset, Fit, FitFiles, FitTensors, IntoDataset, Model, Named, Posterior,
        Sampler, Starts, StepSize, TensorTree, array, full, model, ones, progress, zeros,
    };
    #[doc(no_inline)]
    pub use sgmcmc_core::burn::{Device, Int, Tensor};
    #[cfg(feature = "report")]
    #[doc(no_inline)]
    pub use sgmcmc_report::Plots;
}
