//! From a model to chains: builders, samplers that step, and runs that keep draws.

mod builder;
mod checkpoint;
mod driver;
mod files;
mod guard;
mod launch;
mod minibatched;
mod mode_plan;
mod monitor;
mod sampler;
mod starts;

pub use crate::fit::{ChainDraws, Ending, Fit, RunInfo, Summary, SummaryRow};
pub use builder::Builder;
pub use checkpoint::{CheckpointStore, Claim, Every};
pub(crate) use checkpoint::{decode, encode};
pub use minibatched::Minibatched;
pub use mode_plan::{FindMode, ModePlan, NoMode};
pub use monitor::{Lines, Progress, Reporter, StopSignal, Watch};
pub use sampler::Sampler;
pub use starts::Starts;
