//! What draws say: moments, quantiles and effective sample sizes, on plain slices, with weights.
//!
//! Draws of chains with decreasing step sizes carry their step size as weight (Welling & Teh 2011, eq. (11)); draws of
//! other chains have equal weights, and everything here is then the usual unweighted quantity.

mod ess;
mod moments;
mod quantile;

pub use ess::effective_sample_size;
pub use moments::{mean, standard_deviation};
pub use quantile::quantiles;
