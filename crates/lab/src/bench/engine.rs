//! The engines that benchmarks can use.

use sgmcmc::prelude::*;

/// The engine that evaluates a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The closures, compiled.
    Compiled,
    /// The closures, run eagerly by Burn.
    Eager,
    /// A hand-written value and gradient.
    Analytic,
}

impl Engine {
    /// Returns the engine called `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none.
    pub(crate) fn from_name(name: &str) -> Result<Self, String> {
        match name {
            "compiled" => Ok(Self::Compiled),
            "eager" => Ok(Self::Eager),
            "analytic" => Ok(Self::Analytic),
            _ => Err(format!("no engine `{name}`; there are compiled, eager and analytic")),
        }
    }
}

/// Returns `posterior`, evaluated by `engine`.
pub(crate) fn with_engine<P: TensorTree, D: TensorTree>(posterior: Posterior<P, D>, engine: Engine) -> Posterior<P, D> {
    match engine {
        Engine::Compiled => posterior.engine(sgmcmc::Engine::Compiled),
        Engine::Eager => posterior.engine(sgmcmc::Engine::Eager),
        Engine::Analytic => posterior,
    }
}
