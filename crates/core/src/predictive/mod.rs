//! Predictive draws, the groups of arrays of a fit, and simulation-based calibration.

mod groups;
mod replications;
mod sbc;

pub use replications::PredictiveOptions;
pub use sbc::{SbcOptions, Simulated};
