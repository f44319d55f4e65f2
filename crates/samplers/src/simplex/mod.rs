//! Algorithms for parameters on the simplex.
//!
//! The posterior of a probability vector ω with a Dirichlet prior is Dirichlet(a), a = α + Σᵢ zᵢ, if the zᵢ are the
//! counts of the observations. ω = θ/Σθ has this distribution if the θⱼ ~ Gamma(aⱼ, 1) are independent. The algorithms
//! of this module move θ with an estimate of a from a minibatch.
//!
//! ```text
//! Statistics ─► SimplexTarget ─► any gradient estimator ─► Scir, ExpandedMean, …
//! counts zᵢ     α, zᵢ            estimate of a             log θ
//! ```

pub mod cir;
mod counts;
mod evaluator;
mod expanded_mean;
mod expanded_natural;
mod reduced_mean;
mod reduced_natural;
mod scir;
mod statistics;
mod step;
mod target;
#[cfg(test)]
mod tests;

pub use cir::CirTransition;
pub use counts::Counts;
pub use expanded_mean::ExpandedMean;
pub use expanded_natural::ExpandedNatural;
pub use reduced_mean::ReducedMean;
pub use reduced_natural::ReducedNatural;
pub use scir::Scir;
pub use statistics::{Observation, Statistics, StatisticsFn};
pub use target::{SimplexDensity, SimplexTarget};
