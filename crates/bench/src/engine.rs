//! The engines to choose from.

use sgmcmc::prelude::*;

/// What evaluates a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The closures, captured and compiled.
    Compiled,
    /// The closures, run by Burn.
    Eager,
    /// Value and gradient written by hand.
    Analytic,
}

impl Engine {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "compiled" => Ok(Self::Compiled),
            "eager" => Ok(Self::Eager),
            "analytic" => Ok(Self::Analytic),
            _ => Err(format!("no engine `{name}`; there are compiled, eager and analytic")),
        }
    }
}

/// The posterior, evaluated by `engine`.
pub(crate) fn with_engine<P: TensorTree, D: TensorTree>(posterior: Posterior<P, D>, engine: Engine) -> Posterior<P, D> {
    match engine {
        Engine::Compiled => posterior.engine(sgmcmc::Engine::Compiled),
        Engine::Eager => posterior.engine(sgmcmc::Engine::Eager),
        Engine::Analytic => posterior,
    }
}
