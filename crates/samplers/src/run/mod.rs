//! Runs: the builder, samplers that are stepped by hand, and runs that keep draws.

mod builder;
mod chain_group;
mod chain_run;
mod checkpoint;
mod driver;
mod files;
mod guard;
mod launch;
mod minibatched;
mod mode_plan;
mod plan;
mod progress;
mod sampler;
mod starts;
mod stop;
mod turns;

pub use builder::Builder;
pub use chain_run::ChainRun;
pub(crate) use checkpoint::Checkpoints;
pub use checkpoint::{CheckpointInterval, CheckpointStore, Claim, InMemoryCheckpoints};
pub(crate) use guard::guard;
pub use minibatched::Minibatched;
pub use mode_plan::{FindMode, ModePlan, NoMode};
pub(crate) use plan::Labels;
pub use progress::{ChainStage, PreparationStage, Progress, ProgressLines, ProgressOption, Quality, Reporter};
#[cfg(feature = "nuts")]
pub(crate) use progress::{ProgressClock, Reading};
pub use sampler::Sampler;
#[cfg(feature = "nuts")]
pub(crate) use starts::ChainStart;
pub use starts::Starts;
pub use stop::StopSignal;
