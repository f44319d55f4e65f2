//! Log densities, their minibatch gradients, and searches for the mode, on flat `f64` slices.
//!
//! ```text
//! Target ─► Evaluator ─► GradientEstimator ─► Oracle
//!           value and    minibatch, control    used by samplers
//!           gradient     variates, SVRG, SAGA
//! ```
//!
//! This crate does not depend on a tensor library. A chain moves one flat vector of coordinates, which a [`Layout`]
//! maps to named parameters. Models that are closures over tensors are in the crate `sgmcmc-core`. Other densities
//! implement [`Target`] or [`AnalyticModel`].

pub mod constraint;
pub mod curvature;
pub mod data;
pub mod error;
pub mod estimator;
pub mod evaluator;
pub mod fingerprint;
pub mod layout;
pub mod memory;
pub mod minibatch;
pub mod mode;
pub mod rng;
pub mod settings;
pub mod text;

pub use constraint::Constraint;
pub use data::{Columns, Precision, Rows};
pub use error::{BatchSizeError, Closure, Error, Result};
pub use estimator::{
    ControlVariate, ExactGradient, FullGradient, GradientEstimator, GradientNoise, MinibatchGradient, NoiseCovariance,
    Oracle, Saga, Svrg,
};
pub use evaluator::{Analytic, AnalyticModel, ConditionOn, Evaluator, ModelIdentity, Target};
pub use fingerprint::Fingerprint;
pub use layout::{Axis, Block, Layout, Split};
pub use minibatch::{BatchSize, Epochs, Minibatch, Weighted, WithReplacement, WithoutReplacement};
pub use mode::{Adam, AutoSearch, LbfgsSearch, Mode, ModeFinder, ModeSearch, Sgd};
pub use rng::ChainRng;
