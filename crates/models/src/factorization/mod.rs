//! Bayesian and α-stable matrix factorization.
//!
//! | model | type | exact sampler | SG-MCMC |
//! |---|---|---|---|
//! | xᵢⱼ ~ N(m + aᵢ + bⱼ + Uᵢ·Vⱼ, 1/τ) | [`BayesianFactorization`] | Gibbs | any [`Kernel`] |
//! | xᵢⱼ ~ SαS((Wᵢ·Hⱼ)^{1/α}), W, H > 0 | [`StableFactorization`] | partially collapsed Gibbs | any [`Kernel`] |
//!
//! [`Entries`] are the observed entries of a matrix, and [`Ratings`] reads them from files of ratings.

mod bayesian;
mod entries;
mod evaluator;
mod hyperprior;
mod kernel;
mod read;
mod stable;
mod start;
#[cfg(test)]
mod testing;
mod wishart;

pub use bayesian::{
    BayesianFactorization, FactorizationFit, FactorizationSampler, NoisePrecision, Predictions, RunningPredictions,
};
pub use entries::{Entries, Entry};
pub use hyperprior::{GammaPrior, Hyperprior};
pub use kernel::Kernel;
pub use read::Ratings;
pub use stable::{
    Complex, Dispersions, FactorCoordinates, GeneralizedGamma, PositiveStable, Simulated, StableData,
    StableFactorization, StableFit, StableSampler, SymmetricStable,
};
