//! The core of `sgmcmc`: models written as closures over Burn tensors, and the minibatch gradients made from them.
//!
//! ```text
//! closures ─► Model ──┐
//!                     ├─► Posterior ─► Evaluator ─► GradientEstimator ─► Oracle
//! arrays ──► Dataset ─┘                value+grad    minibatch, CV, …    what dynamics ask
//! ```
//!
//! Parameters and data are [trees of tensors](tree) where users meet them; everywhere else a chain is one flat `f64`
//! vector, described by a [`Layout`].

pub mod array;
pub mod constraint;
pub mod curvature;
pub mod data;
pub mod distributions;
pub mod engine;
pub mod error;
pub mod fingerprint;
pub mod gradient;
pub mod layout;
pub mod memory;
pub mod minibatch;
pub mod mode;
pub mod model;
pub mod rng;
pub mod special;
pub mod text;
pub mod tree;

/// The tensor library models are written in.
pub use burn_tensor as burn;

pub use array::{array, default_device, full, ones, zeros};
pub use constraint::Constraint;
pub use data::{Columns, Dataset, Precision, Rows};
pub use engine::{Analytic, AnalyticModel, Engine, Evaluator, ModelIdentity, Posterior, Target};
pub use error::{BatchSizeError, Closure, Error, Result};
pub use fingerprint::Fingerprint;
pub use gradient::{
    ControlVariate, ExactGradient, FullGradient, GradientEstimator, GradientNoise, MinibatchGradient, NoiseCovariance,
    Oracle, Saga, Svrg,
};
pub use layout::{Block, Layout};
pub use minibatch::{BatchSize, Epochs, Minibatch, Weighted, WithReplacement, WithoutReplacement};
pub use mode::{Adam, AutoSearch, LbfgsSearch, Mode, ModeFinder, ModeSearch, Sgd};
pub use model::Model;
pub use rng::ChainRng;
pub use tree::{Named, TensorTree};
