//! Plots of posterior draws, one by one for papers or together on one page that shows a fit.

pub mod error;
pub mod plot;

pub use error::{Error, Result};
