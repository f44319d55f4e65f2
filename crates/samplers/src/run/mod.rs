//! From a model to chains: builders, samplers that step, and runs that keep draws.

mod builder;
mod checkpoint;
mod driver;
mod fit;
mod launch;
mod minibatched;
mod mode_plan;
mod monitor;
mod sampler;
mod starts;
mod summary;

pub use builder::Builder;
pub use checkpoint::{CheckpointStore, Every};
pub(crate) use checkpoint::{decode, encode};
pub use fit::{ChainDraws, Ending, Fit};
pub use minibatched::Minibatched;
pub use mode_plan::{FindMode, ModePlan, NoMode};
pub use monitor::{Lines, Progress, Reporter, StopSignal, Watch};
pub use sampler::Sampler;
pub use starts::Starts;
pub use summary::{Summary, SummaryRow};
