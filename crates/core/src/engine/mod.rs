//! Engines that evaluate the closures of a model.
//!
//! The eager engine runs the closures on Burn tensors and differentiates them with Burn's autodiff. The compiled engine
//! records the closures once, differentiates the recording, and runs it without Burn. Both implement
//! [`Evaluator`](sgmcmc_gradient::Evaluator).

mod analytic;
mod compiled;
mod eager;
mod mixing;
mod posterior;
mod spread;
mod support;

pub use analytic::AnalyticTree;
pub use posterior::Posterior;

/// The engine that evaluates the closures of a model.
///
/// # Examples
///
/// ```
/// use sgmcmc::Engine;
/// use sgmcmc::data::Rows;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// for engine in [Engine::Compiled, Engine::Eager] {
///     let mut evaluator = model.with(&Dataset::none()).engine(engine).evaluator(&zeros([1]))?;
///     assert_eq!(evaluator.log_density(&[2.0], Rows::range(0..0))?, -2.0);
/// }
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The compiled engine if the closures can be compiled, and the eager engine otherwise. In the latter case a
    /// warning with the reason is logged. Closures of more than 250 000 operations are not compiled. The time of Burn's
    /// backward pass over so long a closure is quadratic in the number of operations.
    #[default]
    Auto,
    /// The compiled engine. Closures that cannot be compiled are an error.
    Compiled,
    /// The eager engine, which runs the closures operation by operation on Burn tensors.
    Eager,
}
