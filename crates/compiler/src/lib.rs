//! Differentiates and compiles row-wise array programs.
//!
//! A model's log density is a sum over observations of one expression, the same for each. [`graph`] holds that expression for
//! one observation, with no axis for the observations; `differentiate` adds the gradient to the graph, `optimise` simplifies
//! it, and `program` runs it over tiles of rows with buffers planned beforehand, so that a call allocates nothing.

pub mod differentiate;
pub mod error;
pub mod graph;
mod hash;
mod kernels;
pub mod optimise;
pub mod program;
pub mod reference;
mod shorthand;

pub use error::{Error, Result};
