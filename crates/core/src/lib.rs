//! Models written as closures over Burn tensors, and the engines that evaluate and differentiate them.
//!
//! ```text
//! closures ─► Model ──┐
//!                     ├─► Posterior ─► Evaluator
//! arrays ──► Dataset ─┘                value and gradient
//! ```
//!
//! Parameters and data are [trees of tensors](tree). The crate `sgmcmc-gradient` defines the
//! [`Evaluator`](sgmcmc_gradient::Evaluator) trait and everything after it, without tensors.
//!
//! # Process-wide state
//!
//! - **Panic hook.** Panics in the closures of a model are caught and become errors. So that they are not also printed,
//!   the first evaluation of a model installs a panic hook. The hook does nothing while the panicking thread runs a
//!   closure of a model. It forwards all other panics to the hook that was installed before. The hook stays installed,
//!   because hooks are shared by all threads and cannot be restored without a race. A program that sets its own hook
//!   should do so before the first evaluation if it wants caught panics to stay silent; a hook set later replaces this
//!   one and also sees the panics of closures.
//! - **Logging.** If [`Engine::Auto`] cannot compile a model and evaluates it eagerly, the crate logs a warning with
//!   the reason through [`log`]. Each reason is logged once per process.

mod array;
mod closure;
pub mod data;
pub mod distributions;
pub mod engine;
mod fit;
pub mod functions;
pub mod kernels;
pub mod matrix;
pub mod model;
pub mod predictive;
pub mod sequence;
pub mod special;
mod transform;
pub mod tree;

/// The tensor library that models are written with.
pub use burn_tensor as burn;
/// The constraints of parameters, used by `#[derive(TensorTree)]`.
pub use sgmcmc_gradient::constraint;

pub use array::{Number, array, default_device, dtype, full, ones, zeros};
pub use data::{Dataset, IntoDataset};
pub use engine::{AnalyticTree, Engine, Posterior};
pub use fit::FitTensors;
pub use model::Model;
pub use tree::{Named, TensorTree, TreeLayout};
