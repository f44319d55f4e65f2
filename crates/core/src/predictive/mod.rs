//! Predictive draws and simulation-based calibration.

mod replications;
mod sbc;

pub use replications::PredictiveOptions;
pub use sbc::{SbcOptions, Simulated};
