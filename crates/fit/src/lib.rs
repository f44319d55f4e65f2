//! Results of MCMC runs: draws, summaries, checks, and sinks that receive draws during a run.
//!
//! A [`Fit`] has the names and shapes of its parameters but not the model. It can be written to a file and analyzed
//! without a tensor library.

mod bias;
mod calibration;
mod check;
pub mod checkpoint;
pub mod codec;
mod derive;
mod difference;
mod draw;
mod draws;
mod fit;
mod group;
mod groups;
mod health;
mod html;
mod info;
mod join;
mod loo_pit;
#[doc(hidden)]
pub mod notebook;
mod outcome;
mod pointwise;
mod predictions;
mod predictive;
mod resample;
mod selection;
mod shard;
pub mod sink;
mod stein;
mod stopped;
mod subset;
mod summary;
mod text;
mod values;
mod zero_variance;

pub use bias::{Bias, DirectionBias, PredictedBias};
pub use calibration::{Calibration, RankTest};
pub use check::{Check, Finding, Severity, Thresholds};
pub use difference::{FitDifference, ValueDifference};
pub use draws::ChainDraws;
pub use fit::Fit;
pub use group::{Group, Variable};
pub use health::{Efficiency, EstimatorNoise, Health, NoisePoint, NoiseReport, ParameterNoise, Shift, StepHalving};
pub use info::{Communication, RunInfo, TuningRecord};
pub use outcome::ChainOutcome;
pub use pointwise::PointwiseLogLikelihood;
pub use predictions::Predictions;
pub use predictive::{Predictive, PredictiveInterval};
pub use shard::{ShardInfo, Tempering};
pub use stein::{FssdOptions, ParameterDiscrepancy, SteinDiscrepancies};
pub use summary::{IntervalKind, Summary, SummaryOptions, SummaryOrder};
pub use text::count;
pub use values::ParameterDraws;
pub use zero_variance::{CorrectedMean, ZeroVariance};
