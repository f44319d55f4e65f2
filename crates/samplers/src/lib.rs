//! Stochastic-gradient MCMC algorithms on any gradient estimator, step by step or in one call.

pub mod chain;
pub mod compose;
pub mod dynamics;
pub mod hamiltonian;
pub mod langevin;
pub mod laplace;
pub mod law;
pub mod metric;
pub mod metropolis;
pub mod per_parameter;
pub mod prediction;
pub mod presets;
pub mod run;
pub mod schedule;
pub mod simplex;
pub mod step_size;
pub mod threshold;
pub mod tuning;

pub use run::{Builder, Sampler, Starts};
pub use step_size::StepSize;
