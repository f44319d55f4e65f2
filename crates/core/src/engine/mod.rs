//! Engines: how a model becomes value and gradient on flat `f64` slices.
//!
//! The eager engine runs the closures on Burn tensors and lets Burn differentiate; the compiled engine records them once,
//! differentiates the recording and runs it without Burn; [`analytic`] calls value and gradient written by hand. All are
//! [`Evaluator`]s, and nothing above knows which one runs.

pub mod analytic;
mod compiled;
mod eager;
mod fingerprint;
mod identity;
mod mixing;
mod posterior;
mod spread;
mod support;

pub use analytic::{Analytic, AnalyticModel};
pub use identity::ModelIdentity;
pub use posterior::Posterior;

use crate::data::{Precision, Rows};
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::layout::Layout;
use crate::tree::TensorTree;

/// How the closures of a model are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Compiled where that is possible, else eagerly, with a message that says why. Closures of more than 250 000 operations run
    /// eagerly; Burn's backward pass over them takes a time that grows with the square of their number.
    #[default]
    Auto,
    /// Compiled, or it is an error.
    Compiled,
    /// Operation by operation on Burn tensors.
    Eager,
}

/// What a sampler or an optimiser is pointed at: it lays out parameters and makes one evaluator per chain.
pub trait Target: Send + Sync {
    /// The typed parameters.
    type Params: TensorTree;

    /// An evaluator for parameters shaped as `start`, checked at `start`.
    fn evaluator(&self, start: &Self::Params) -> Result<Box<dyn Evaluator>>;

    /// Returns a fingerprint of the data, where there is one. Costs a pass over them.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }
}

/// Evaluates one model on one data set. Each chain has its own, with its own work space.
///
/// Gradients are of the **log density**, and are *added* to what `grad` holds.
pub trait Evaluator: Send + std::fmt::Debug {
    /// Names, shapes and places of the parameters.
    fn layout(&self) -> &Layout;

    /// The number of observations, N.
    fn observations(&self) -> usize;

    /// log p(θ); adds its gradient to `grad`.
    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64>;

    /// Σᵢ wᵢ log p(xᵢ|θ) over `rows`; adds its gradient to `grad`.
    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64>;

    /// log p(θ) + Σᵢ wᵢ log p(xᵢ|θ) over `rows`; adds its gradient to `grad`. One pass where the engine can.
    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        Ok(self.prior(theta, grad)? + self.likelihood(theta, rows, grad)?)
    }

    /// log p(θ) + Σᵢ wᵢ log p(xᵢ|θ) over `rows`, without the gradient.
    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64>;

    /// log p(xᵢ|θ) of each row, untempered and without weights, into `out`.
    fn pointwise(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()>;

    /// The gradient of each term of [`likelihood`](Self::likelihood) at weight one, a row of `out` (row-major, of length dim)
    /// per observation.
    fn per_datum(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()>;

    /// Returns what tells the model apart from others: a fingerprint of its recorded operations where the engine has them, else the
    /// log density and its gradient at points around `theta`.
    ///
    /// # Errors
    ///
    /// If the model fails at one of the points.
    fn identity(&mut self, theta: &[f64]) -> Result<ModelIdentity> {
        identity::by_values(self, theta)
    }

    /// The float type it computes in, and so how accurate its numbers are.
    fn precision(&self) -> Precision {
        Precision::Double
    }

    /// Lets this evaluator use up to `threads` threads; one unless said otherwise.
    fn set_threads(&mut self, threads: usize) {
        let _ = threads;
    }

    /// Called on the thread that is going to use it, before the first step: work space that is written again and again should be made
    /// there. That of chains which were made one after another shares cache lines, and chains on several cores would wait for each other.
    ///
    /// # Errors
    ///
    /// If the work space cannot be made.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    /// The length of the flat parameter vector.
    fn dim(&self) -> usize {
        self.layout().dim()
    }

    /// All observations, with weight one.
    fn all_rows(&self) -> Rows<'static> {
        Rows::range(0..self.observations())
    }
}

/// An error unless `theta` and `grad` have the layout's length and `rows` exist.
fn check_call(layout: &Layout, observations: usize, theta: &[f64], grad: &[f64], rows: Rows<'_>) -> Result<()> {
    layout.check_length(theta)?;
    layout.check_length(grad)?;
    rows.check(observations)
}

/// An error unless `found` numbers are what `what` needs.
fn check_output(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(crate::error::Error::Length { what, expected, found }) }
}
